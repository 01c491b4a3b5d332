/** Which process leads, and how soon another takes over from one that stops. */
import type { ServiceName } from '@cardea/contracts';
import { type Clock, systemClock } from '@cardea/runtime';
import { silentLogger, testDatabase } from '@cardea/testing';
import { Client, type QueryConfig, type QueryResultRow } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { processSession, sessionName } from '../src/index.ts';
import { otherProcesses } from '../src/session/other-processes.ts';

const TEST_MS_MAX = 60_000;
const test = testDatabase();

/** Pauses end only when they are interrupted. */
const withoutPolling: Clock = {
  ...systemClock,
  sleep: (_ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) resolve();
      else signal?.addEventListener('abort', () => resolve(), { once: true });
    }),
};

it('whoever waits for a lock that another process gives back hears of it, and does not poll', {
  timeout: TEST_MS_MAX,
}, async () => {
  const session = () => {
    const locks = processSession({
      connectionString: test.url,
      clock: withoutPolling,
      log: silentLogger,
    });
    onTestFinished(() => locks.close());
    return locks;
  };
  const [leaving, waiting] = [session(), session()];
  const stop = new AbortController();
  const lease = await leaving.hold('things', stop.signal);
  // Its first attempt has ended when it holds a name that no other process requests.
  const next = waiting.hold('things', stop.signal);
  await (await waiting.hold('others', stop.signal))?.release();

  await lease?.release();

  expect(await next).toBeDefined();
});

it('a replica is whoever runs the same service, alone or with all others', async () => {
  const kind = 'cardea test';
  const sessionOf = async (service?: ServiceName): Promise<Client> => {
    const client = new Client({
      connectionString: test.url,
      application_name: sessionName(kind, service),
    });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  };
  const own = await sessionOf('identity');
  const { rows } = await own.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const seenBy = async (service?: ServiceName) => {
    const others = otherProcesses({ kind, service, own: () => rows.map(({ pid }) => pid) });
    expect([others.arePossible(), others.areReplicasPossible()]).toEqual([true, true]);
    await others.look(
      async <Row extends QueryResultRow>(query: QueryConfig) => (await own.query<Row>(query)).rows,
    );
    return [others.arePossible(), others.areReplicasPossible()];
  };
  expect(await seenBy('identity')).toEqual([false, false]);
  await sessionOf('vault');
  expect(await seenBy('identity')).toEqual([true, false]);
  expect(await seenBy('vault')).toEqual([true, true]);
  expect(await seenBy()).toEqual([true, true]);
  await sessionOf();
  expect(await seenBy('identity')).toEqual([true, true]);
});
