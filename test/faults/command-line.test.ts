import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { processFixture, programOf, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { instance } from './instance.ts';

const CARDEA = programOf(new URL('../../services/standalone/src/cardea.ts', import.meta.url));
const fixture = processFixture();

async function cardea(folder: string, ...words: readonly string[]) {
  const running = await fixture.start({
    name: `cardea-${words[0]}`,
    script: CARDEA,
    args: [...words, '--data', folder, '--json'],
    env: {},
  });
  const code = await running.ended;
  const lines = running.output().trim().split('\n');
  return { code, said: JSON.parse(lines.at(-1) ?? '{}') };
}

/** If the test runs as root, the cluster is where the server's own user can access it. */
function removeCluster(folder: string): void {
  const pointer = join(folder, 'postgres', 'kept-elsewhere');
  if (!existsSync(pointer)) return;
  rmSync(join('/var/lib/cardea', readFileSync(pointer, 'utf8').trim()), { recursive: true });
}

type Check = { readonly name: string; readonly status: string };

describe('O13 the command line', () => {
  it('works beside a running instance with a database of its own, and on the stopped one', async () => {
    const standalone = await instance(fixture, {});
    const running = await standalone.start();
    const isReady = async () => {
      const answer = await fetch(`${standalone.management}/readyz`);
      return ((await answer.json()) as { status: string }).status === 'ready';
    };
    await untilTrue(isReady, { what: 'all of it is well' });
    const beside = await cardea(standalone.folder, 'doctor');
    expect(beside.said).toMatchObject({
      ok: true,
      place: expect.stringContaining(`running at ${standalone.base}`),
    });
    const loops = beside.said.checks.find(({ name }: Check) => name.startsWith('loops'));
    expect(loops).toMatchObject({ name: `loops at ${standalone.management}`, status: 'ok' });
    expect(await running.end('SIGTERM')).toBe(0);

    const stopped = await cardea(standalone.folder, 'doctor');
    expect(stopped).toMatchObject({ code: 0, said: { place: expect.stringContaining('stopped') } });
    const made = await cardea(standalone.folder, 'users', 'create-admin', 'late@example.com');
    expect(made.code).toBe(0);

    const again = await standalone.start();
    const { password, tenant_id: tenant } = made.said;
    const body = { email: 'late@example.com', password };
    const signedIn = await standalone.rest.post('/api/v1/auth/login', body, { tenant });
    expect(signedIn.status).toBe(200);
    expect(await again.end('SIGTERM')).toBe(0);
    removeCluster(standalone.folder);
  });
});
