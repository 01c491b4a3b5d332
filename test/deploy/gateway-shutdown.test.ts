/** How a gateway on this machine ends: on a signal, and when the process that started it is gone. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processFixture, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway } from '../../scripts/gateway/start.ts';
import { needNginx } from '../need-nginx.ts';
import { askRaw } from '../raw-http.ts';
import { mute } from './gateway-upstreams.ts';

const END_MS_MAX = 60_000;
const START = new URL('../../scripts/gateway/start.ts', import.meta.url);

needNginx();
const fixture = processFixture();
let folder: string | undefined;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cardea-gateway-ending-'));
});
afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

const upstreamsOf = (address: string) => ({
  identity: [address],
  authz: [],
  vault: [],
  approval: [],
  webhooks: [],
  audit: [],
});

it('leaves no process and no folder when it is stopped', async () => {
  const gateway = await startGateway({ upstreams: upstreamsOf('127.0.0.1:1'), workers: 2 });
  expect((await askRaw(gateway.port, '/docs')).status).toBe(200);
  await gateway.stop();
  expect([existsSync(gateway.folder), isAlive(-gateway.pid)]).toEqual([false, false]);
});

it('is gone soon after whoever started it was killed', async () => {
  const script = join(folder as string, 'starter.ts');
  writeFileSync(
    script,
    `import { startGateway } from ${JSON.stringify(START.href)};
     const gateway = await startGateway({ upstreams: ${JSON.stringify(upstreamsOf('127.0.0.1:1'))} });
     console.log('nginx is ' + gateway.pid + ' in ' + gateway.folder);`,
  );
  const starter = await fixture.start({
    name: 'starter',
    script,
    ready: /nginx is (\d+) in (\S+)/,
  });
  const pid = Number(starter.ready?.[1]);
  expect(isAlive(-pid)).toBe(true);
  await starter.end('SIGKILL');
  const what = 'nginx and its workers are gone';
  await untilTrue(() => !isAlive(-pid), { deadlineMs: END_MS_MAX, what });
  const left = starter.ready?.[2] as string;
  await untilTrue(() => !existsSync(left), { deadlineMs: END_MS_MAX, what: 'its folder is gone' });
});

it('lets requests in flight finish when it is stopped with grace', async () => {
  const silent = await mute();
  const gateway = await startGateway({
    upstreams: upstreamsOf(silent.address),
    workers: 1,
    readWaitSeconds: 1,
  });
  const answer = askRaw(gateway.port, '/api/v1/auth/me');
  await untilTrue(() => silent.seen.length > 0, {
    deadlineMs: END_MS_MAX,
    what: 'it is in flight',
  });
  await gateway.stop(true);
  expect((await answer).status).toBe(504);
  await silent.close();
});

it('does not take another server on its port for itself', async () => {
  const other = await mute();
  const port = Number(other.address.split(':')[1]);
  await expect(startGateway({ upstreams: upstreamsOf('127.0.0.1:1'), port })).rejects.toThrow(
    `port ${port} is taken`,
  );
  await other.close();
});

it('says what nginx said when it cannot start', async () => {
  await expect(startGateway({ upstreams: upstreamsOf('no host:x'), workers: 1 })).rejects.toThrow(
    /invalid|host not found/,
  );
});

/** Signal 0 checks whether the group has any process. */
function isAlive(group: number): boolean {
  try {
    process.kill(group, 0);
    return true;
  } catch {
    return false;
  }
}
