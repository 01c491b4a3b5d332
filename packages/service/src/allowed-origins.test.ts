import { fakeClock } from '@cardea/runtime';
import { untilTrue } from '@cardea/testing';
import { expect, it } from 'vitest';
import { allowedOrigins } from './allowed-origins.ts';

const ORIGIN = 'https://app.example.com';

function origins() {
  const clock = fakeClock('2026-11-23T00:00:00Z');
  const warned: string[] = [];
  const identity = { isThere: false, reads: 0 };
  const { loop, ofAny } = allowedOrigins({
    own: [],
    read: async () => {
      identity.reads += 1;
      if (!identity.isThere) throw new Error('identity does not answer');
      return { origins: [{ origin: ORIGIN, tenants: ['tenant-a'] }] };
    },
    cache: { subscribe: async () => async () => {} },
    clock,
    log: { warn: (_, message) => warned.push(message) },
  });
  const stop = new AbortController();
  const running = loop.run(
    stop.signal,
    () => {},
    () => {},
  );
  const asleep = () => untilTrue(() => clock.sleepers > 0, { what: 'the loop rests' });
  return {
    ...{ identity, warned, ofAny },
    pass: async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        await asleep();
        await clock.advance(1000);
      }
      await asleep();
    },
    end: async () => {
      stop.abort();
      await running;
    },
  };
}

it('waits for a service that starts later, without a warning', async () => {
  const { identity, warned, ofAny, pass, end } = origins();
  await pass(59);
  expect(identity.reads).toBe(60);
  identity.isThere = true;
  await pass(1);
  expect(ofAny(ORIGIN)).toBe(true);
  expect(warned).toEqual([]);
  await end();
});

it('warns once of a service that stays away', async () => {
  const { warned, pass, end } = origins();
  await pass(90);
  expect(warned).toEqual(['the origins of tenants are not known']);
  await end();
});
