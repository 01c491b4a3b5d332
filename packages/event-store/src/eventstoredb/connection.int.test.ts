import { startFakeEventStore, untilTrue } from '@cardea/testing';
import { expect, it } from 'vitest';
import { eventStoreDbConnection } from './connection.ts';
import { followRequest } from './wire.ts';

/** 10 s until the next ping and 2 s for its response, plus room. The client's own default is 20 s. */
const GIVEN_UP_MS = 18_000;

/** A try that took longer on a busy machine proves nothing, so it is repeated. */
const TRIES_MAX = 3;

it('gives up a subscription whose connection is dead, though nothing else is asked', async () => {
  const tookMs: number[] = [];
  do tookMs.push(await givenUpAfterMs());
  while (Math.min(...tookMs) >= GIVEN_UP_MS && tookMs.length < TRIES_MAX);
  expect(Math.min(...tookMs)).toBeLessThan(GIVEN_UP_MS);
});

async function givenUpAfterMs(): Promise<number> {
  const standIn = await startFakeEventStore();
  const connection = eventStoreDbConnection(standIn.url);
  const stop = new AbortController();
  const on = { onConfirmed: () => {}, onAnswer: () => {} };
  const following = connection.follow(followRequest('identity', 0n), on, stop.signal);
  const start = performance.now();
  const givenUp = expect(following).rejects.toThrow();
  await untilTrue(() => standIn.subscriptions() === 1);
  standIn.faults.strand();
  await givenUp;
  const tookMs = performance.now() - start;
  await connection.close();
  await standIn.stop();
  return tookMs;
}

it('a wrong address of EventStoreDB is not quoted', () => {
  const open = () => eventStoreDbConnection('esdb://admin:changeit@:x?tls=maybe');
  expect(open).toThrow('EVENTSTORE_URL');
  expect(open).not.toThrow('changeit');
});
