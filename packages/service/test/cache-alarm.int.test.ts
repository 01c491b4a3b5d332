import { processSession } from '@cardea/postgres';
import { openDatabase } from '@cardea/read-models';
import { systemClock } from '@cardea/runtime';
import { silentLogger, testDatabase, untilTrue } from '@cardea/testing';
import { afterEach, expect, it } from 'vitest';
import { cacheAlarm } from '../src/host/cache-alarm.ts';

const database = testDatabase();
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

/** The alarm of a process. */
function alarm() {
  const common = { connectionString: database.url, clock: systemClock, log: silentLogger };
  const locks = processSession(common);
  const pool = openDatabase({ ...common, poolSize: 1 });
  open.push(locks, pool);
  return { pool, own: cacheAlarm({ database: pool, locks, clock: systemClock }) };
}

it('H1 an alarm is heard by every process, also by those whose session was lost', async () => {
  const [here, there] = [alarm(), alarm()];
  let heard = 0;
  there.own.onRaised(() => {
    heard += 1;
  });
  // Waits until it listens, because earlier alarms may have been missed.
  await untilTrue(() => heard === 1);
  await here.own.raise();
  await untilTrue(() => heard === 2);
  await Promise.all(Array.from({ length: 50 }, () => here.own.raise()));
  await untilTrue(() => heard > 2);
  // Alarms that were raised while one was being sent share the next one.
  expect(heard).toBeLessThanOrEqual(4);
  const before = heard;
  await here.pool.asSystem(async (sql) => {
    await sql.query('SET LOCAL ROLE NONE');
    await sql.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name LIKE 'cardea-leader%' AND datname = current_database()`,
    );
  });
  await untilTrue(() => heard > before);
  await here.own.raise();
});
