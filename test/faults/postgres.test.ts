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
