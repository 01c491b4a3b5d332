import { authzService } from '@cardea/authz';
import { type Clock, systemClock } from '@cardea/runtime';
import { serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, expect, it } from 'vitest';

const LOOPS = 4;
/** A pool that lends no connection for this long makes the process not live. */
const SILENT_MS_MAX = 30_000;
const NOT_LIVE_MS_MAX = 120_000;

const database = testDatabase();
const stopping: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stopping) await stop();
});

it('a process whose loops get no connection any more is not live, and says why', async () => {
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  const fixture = await serviceFixture({
    databaseUrl: database.url,
    definitions: [authzService],
    clock,
  });
  stopping.push(() => fixture.stop());
  const livez = async () => {
    const answer = await fetch(`${fixture.managementUrl}/livez`);
    return { status: answer.status, text: await answer.text() };
  };
  const end = Promise.withResolvers<void>();
  const lost = Array.from({ length: LOOPS }, () =>
    fixture.shared.database.asSystem(() => end.promise).catch(() => undefined),
  );
  const silentMs = () =>
    fixture.shared.database.pools().find(({ pool }) => pool === 'loops')?.silentMs;
  await untilTrue(() => (silentMs() ?? 0) > 0, { what: 'somebody waits for a connection' });
  expect((await livez()).status).toBe(200);
  aheadMs = SILENT_MS_MAX;
  const dead = await untilTrue(
    async () => {
      const said = await livez();
      return said.status === 503 ? said : undefined;
    },
    { deadlineMs: NOT_LIVE_MS_MAX, what: 'the process is not live' },
  );
  expect(dead.text).toBe('no connection for loops');
  end.resolve();
  await Promise.all(lost);
  await untilTrue(async () => (await livez()).status === 200, { what: 'it is live again' });
});
