import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPostgres, startLocalPostgres } from '@cardea/local-postgres';
import { processFixture, type RestDriver, untilTrue } from '@cardea/testing';
import { afterAll, expect, it } from 'vitest';
import { instance } from './instance.ts';
import { expectClean, mixedWrites } from './writes.ts';

const CALM_MS = 2000;
const AWAY_MS = 2000;
/** Many times longer than an idle machine takes. */
const WELL_AGAIN_MS = 120_000;
const TEST_MS_MAX = 600_000;

const fixture = processFixture();
const folder = mkdtempSync(join(tmpdir(), 'cardea-postgres-'));
let postgres: LocalPostgres | undefined;
afterAll(() => {
  postgres?.stop({ remove: true });
  rmSync(folder, { recursive: true, force: true });
});
const startPostgres = () => startLocalPostgres({ dataFolder: folder, password: 'for-this-test' });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('R7 PostgreSQL killed and started again under load gives 503s, no exit, and recovery', {
  timeout: TEST_MS_MAX,
}, async () => {
  postgres = await startPostgres();
  await postgres.createDatabase('cardea');
  const cardea = await instance(fixture, { DATABASE_URL: postgres.connectionString('cardea') });
  const running = await cardea.start();
  const caller = await cardea.admin();
  const rest: RestDriver = cardea.rest.as(caller);
  const load = mixedWrites(join(cardea.folder, 'acked'), () => rest);
  await pause(CALM_MS);

  const killed = postgres.pid;
  process.kill(killed, 'SIGQUIT');
  const away = await untilTrue(
    async () => {
      const answer = await rest.get('/api/v1/fga/tuples', { signal: AbortSignal.timeout(10_000) });
      return answer.status === 200 ? undefined : answer;
    },
    { what: 'a read notices that the database is away' },
  );
  expect([away.status, away.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
  expect((await cardea.rest.get('/health')).status).toBe(200);
  await pause(AWAY_MS);
  // A server that is still shutting down would be mistaken for a running one.
  await untilTrue(() => isGone(killed), { what: 'the killed server is gone' });
  postgres = await startPostgres();

  await untilTrue(async () => (await rest.get('/api/v1/fga/tuples')).status === 200, {
    deadlineMs: WELL_AGAIN_MS,
    what: 'reads work again',
  });
  await pause(CALM_MS);
  await load.stop();
  await untilTrue(async () => (await fetch(`${cardea.management}/readyz`)).status === 200, {
    deadlineMs: WELL_AGAIN_MS,
    what: 'the process is ready again',
  });
  await expectClean(rest, load);
  expect(await running.end('SIGTERM')).toBe(0);
});

it('R7 a standalone instance starts its own PostgreSQL again when it is killed', async () => {
  const cardea = await instance(fixture, {});
  const running = await cardea.start();
  const rest = cardea.rest.as(await cardea.admin());
  const reads = async () => (await rest.get('/api/v1/fga/tuples')).status;
  expect(await reads()).toBe(200);
  const killed = postmasterOf(running.pid);
  process.kill(killed, 'SIGKILL');
  // The server may be back before the next read. Until then the answer is 503 and nothing else.
  const seen = new Set<number>();
  const pid = await untilTrue(
    async () => {
      const status = await reads();
      seen.add(status);
      const now = postmasterOf(running.pid);
      return status === 200 && now > 1 && now !== killed ? now : undefined;
    },
    { deadlineMs: WELL_AGAIN_MS, what: 'reads work on a new server' },
  );
  expect([...seen].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(await running.end('SIGTERM')).toBe(0);
  await untilTrue(() => isGone(pid), { what: 'the new server is stopped too' });
});

/** The parent that inherits an ended process may take a moment to reap it. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

/** The server that a process has started: its only child called postgres. */
function postmasterOf(parent: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'pid=,comm=', '--ppid', String(parent)]);
  const line = stdout
    .toString('utf8')
    .split('\n')
    .find((each) => each.includes('postgres') && !each.includes('<defunct>'));
  return Number(line?.trim().split(/\s+/)[0]);
}
