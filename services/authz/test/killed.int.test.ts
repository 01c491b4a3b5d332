import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programOf, restDriver, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { type FgaClient, fgaClient } from './fga-client.ts';

const database = testDatabase();
const TENANT = 'killed';
const KILLS = 3;
const WRITERS = 8;
/** Answers that arrive before the process is killed. */
const ANSWERS_BEFORE_KILL = 60;

/** A killed process does not remove its temporary folder, so it is created inside this one. */
const folder = mkdtempSync(join(tmpdir(), 'cardea-killed-'));
let child: ChildProcess | undefined;
let gone: Promise<unknown> = Promise.resolve();
afterAll(async () => {
  child?.kill('SIGKILL');
  await gone;
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<FgaClient> {
  const script = programOf(new URL('killed.process.ts', import.meta.url));
  const env = { ...process.env, TMPDIR: folder };
  child = fork(script, [database.url, TENANT], { env, stdio: ['ignore', 2, 2, 'ipc'] });
  gone = once(child, 'exit');
  const early = gone.then(() => {
    throw new Error('the process ended before it listened');
  });
  early.catch(() => undefined);
  const [{ baseUrl, bearer }] = await Promise.race([once(child, 'message'), early]);
  return fgaClient(restDriver({ baseUrl, caller: { bearer, tenant: TENANT } }));
}

describe('a process that is killed under load', () => {
  it('authz 18 has lost no change that it acknowledged', { timeout: 180_000 }, async () => {
    /**
     * The state of each document after its last answered change. Unanswered changes may or may not have been applied.
     */
    const acknowledged = new Map<string, 'write' | 'delete'>();
    for (let kill = 0; kill < KILLS; kill++) {
      const fga = await start();
      let answers = 0;
      const writer = async (lane: number) => {
        for (let at = 0; ; at++) {
          const name = `user:ann viewer document:${kill}-${lane}-${at % 5}`;
          const change = acknowledged.get(name) === 'write' ? 'delete' : 'write';
          acknowledged.delete(name);
          await fga[change](name);
          acknowledged.set(name, change);
          if (++answers === ANSWERS_BEFORE_KILL) child?.kill('SIGKILL');
        }
      };
      const ends = await Promise.allSettled(Array.from({ length: WRITERS }, (_, at) => writer(at)));
      expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    }

    const fga = await start();
    expect(acknowledged.size).toBeGreaterThan(KILLS * WRITERS);
    // A check reads the end of the log. After a restart the table must reach that position.
    const { headers } = await fga.check('user:ann viewer document:0-0-0');
    const token = headers.get('x-service-consistency') ?? '';
    const { body } = await untilTrue(async () => {
      const query = { limit: 1_000 };
      const list = await fga.rest.get('/api/v1/fga/tuples', {
        query,
        headers: { 'x-service-consistency': token },
      });
      return list.status === 200 ? list : undefined;
    });
    const listed = new Set<string>();
    for (const { object_id } of body.tuples) listed.add(object_id);
    for (const [name, change] of acknowledged) {
      const stands = change === 'write';
      expect([name, await fga.allows(name)]).toEqual([name, stands]);
      expect([name, listed.has(name.split(':').at(-1) ?? '')]).toEqual([name, stands]);
    }
  });
});
