import { type InMemoryLogs, inMemoryEventStore, inMemoryLogs } from '@cardea/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Command } from './command.ts';
import {
  accept,
  type EventStore,
  EventStoreUnavailable,
  refuse,
  type Stream,
} from './event-store.ts';
import { streams } from './streams.ts';

const SEEDS = Number(process.env['CARDEA_R21_SEEDS'] ?? 1000);
const TIME_BOX_MS = 20_000;
const SEATS = 4;
const RETRIES_MAX = 3;

type Taken = { readonly type: 'Taken'; readonly data: { readonly by: string } };
/** A ship with few seats. More passengers than seats would reveal a decision on an outdated state. */
const ship: Stream<readonly string[], Taken> = {
  noun: 'ship',
  initial: [],
  evolve: (passengers, event) => [...passengers, event.data.by],
};
const take = (by: string) => (passengers: readonly string[]) =>
  passengers.length < SEATS ? accept<Taken>({ type: 'Taken', data: { by } }) : refuse('full');

const commandOf = (id: string): Command => ({
  id,
  now: new Date(0),
  metadata: { tenantId: 'acme', actor: { type: 'user', id } },
});

/** What can happen to an append: success, a failure before it was stored, or a lost response. */
const fates = fc.constantFrom('well', 'well', 'never stored', 'answer lost');
type Fate = 'well' | 'never stored' | 'answer lost';

function faulty(logs: InMemoryLogs, scheduler: fc.Scheduler, nextFate: () => Fate): EventStore {
  const inner = inMemoryEventStore('vault', logs);
  return {
    ...inner,
    readStreams: scheduler.scheduleFunction(inner.readStreams),
    append: scheduler.scheduleFunction(async (appends) => {
      const fate = nextFate();
      if (fate === 'never stored') throw new EventStoreUnavailable('gone');
      const outcomes = await inner.append(appends);
      if (fate === 'answer lost') throw new EventStoreUnavailable('lost');
      return outcomes;
    }),
  };
}

it('R21 F6 commands of several processes take effect once each, whatever fails between', async () => {
  const property = fc.asyncProperty(
    fc.scheduler(),
    fc.array(fates, { maxLength: 30 }),
    fc.array(fc.record({ process: fc.nat(2), command: fc.nat(7) }), {
      minLength: 1,
      maxLength: 12,
    }),
    async (scheduler, given, calls) => {
      const logs = inMemoryLogs();
      const left = [...given];
      const sleep = scheduler.scheduleFunction(async () => {});
      const processes = [0, 1, 2].map(() =>
        streams(
          faulty(logs, scheduler, () => left.shift() ?? 'well'),
          {
            clock: { monotonicMs: () => 0, sleep: () => sleep() },
          },
        ),
      );
      const acked = new Set<string>();
      const call = async ({ process, command }: { process: number; command: number }) => {
        const id = `c${command}`;
        for (let retry = 0; retry < RETRIES_MAX; retry++) {
          const decided = await processes[process]
            ?.decideOn(ship, 'argo', commandOf(id), take(id))
            .catch(() => undefined); // The caller does not know the outcome, and tries again.
          if (decided?.accepted) acked.add(id);
          if (decided !== undefined) return;
        }
      };
      await scheduler.waitFor(Promise.all(calls.map(call)));

      const events = logs.events.get('vault') ?? [];
      const passengers = events.map((event) => event.data['by']);
      expect(new Set(passengers).size).toBe(passengers.length);
      expect(passengers.length).toBeLessThanOrEqual(SEATS);
      for (const id of acked) expect(passengers).toContain(id);
      expect(events.map((event) => event.revision)).toEqual(events.map((_, index) => index + 1));
    },
  );
  await fc.assert(property, { numRuns: SEEDS, interruptAfterTimeLimit: TIME_BOX_MS });
}, 120_000);
