import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPostgres, startLocalPostgres } from '@cardea/local-postgres';
import { processRig, type RestDriver, untilTrue } from '@cardea/testing';
import { afterAll, expect, it } from 'vitest';
import { instance } from './instance.ts';
import { expectClean, mixedWrites } from './writes.ts';

const CALM_MS = 2000;
const AWAY_MS = 2000;
const WELL_AGAIN_MS = 30_000;

const rig = processRig();
const folder = mkdtempSync(join(tmpdir(), 'cardea-postgres-'));
let postgres: LocalPostgres | undefined;
afterAll(() => {
  postgres?.stop({ remove: true });
  rmSync(folder, { recursive: true, force: true });
});
const startPostgres = () => startLocalPostgres({ dataFolder: folder, password: 'for-this-test' });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('R7 PostgreSQL killed and started again under load gives 503s, no exit, and recovery', async () => {
  postgres = await startPostgres();
  await postgres.createDatabase('cardea');
  const cardea = await instance(rig, { DATABASE_URL: postgres.connectionString('cardea') });
  const running = await cardea.start();
  const caller = await cardea.admin();
  const rest: RestDriver = cardea.rest.as(caller);
  const load = mixedWrites(join(cardea.folder, 'acked'), () => rest);
  await pause(CALM_MS);

  process.kill(postgres.pid, 'SIGQUIT');
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
  const cardea = await instance(rig, {});
  const running = await cardea.start();
  const rest = cardea.rest.as(await cardea.admin());
  const reads = async () => (await rest.get('/api/v1/fga/tuples')).status;
  expect(await reads()).toBe(200);
  process.kill(postmasterOf(running.pid), 'SIGKILL');
  await untilTrue(async () => (await reads()) === 503, { what: 'a read notices' });
  await untilTrue(async () => (await reads()) === 200, { deadlineMs: 60_000, what: 'reads work' });
  const pid = postmasterOf(running.pid);
  expect(pid).toBeGreaterThan(1);
  expect(await running.end('SIGTERM')).toBe(0);
  await untilTrue(() => isGone(pid), { what: 'the new server is stopped too' });
});

/** Whoever inherits a process that has ended may take a moment to notice. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

/** The server that a process has started: its only child that is called postgres. */
function postmasterOf(parent: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'pid=,comm=', '--ppid', String(parent)]);
  const line = stdout
    .toString('utf8')
    .split('\n')
    .find((each) => each.includes('postgres'));
  return Number(line?.trim().split(/\s+/)[0]);
}
