import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Ask, enqueue, enqueueOutcome, type Found } from './enqueue.ts';
import { countDenial, mute } from './mute.ts';
import { type Queue, type QueueChanged, type QueueEntry, queueIdOf, queues } from './queue.ts';

const START = Date.parse('2026-01-01T10:00:00.000Z');
const at = (minutes: number) => new Date(START + minutes * 60_000);
const entry = (id: string, digest?: string): QueueEntry => ({
  request_id: id,
  until: at(30).toISOString(),
  ...(digest === undefined ? {} : { digest }),
});
const changed = (queue: Partial<Queue>): QueueChanged => ({
  type: 'QueueChanged',
  data: { open: [], denials: [], muted_until: null, ...queue },
});
const pending: Found = { kind: 'pending', expiresAt: at(5).toISOString() };
const ask = (
  wanted: QueueEntry,
  found: { readonly [id: string]: Found } = {},
  minutes = 1,
): Ask => ({ entry: wanted, now: at(minutes), found: new Map(Object.entries(found)) });

describe('a queue of one agent before one user', () => {
  it('lets the first in, and joins what asks the same while it is open', () => {
    const mine = entry('a', 'd');
    given(queues)
      .when((queue) => enqueue(ask(mine), queue))
      .accepts(changed({ open: [mine] }));
    const { state } = given(queues, changed({ open: [mine] }));
    const joined = { outcome: 'joined', requestId: 'a' };
    for (const kind of ['unmade', 'usable'] as const) {
      expect(enqueueOutcome(ask(entry('b', 'd'), { a: { kind } }), state)).toEqual(joined);
    }
    expect(enqueueOutcome(ask(entry('b', 'd'), { a: pending }), state)).toEqual(joined);
    expect(enqueueOutcome(ask(entry('b', 'd')), state)).toEqual({ outcome: 'look_again' });
  });

  it('finds the same request again when a call is repeated, digest or none', () => {
    const { state } = given(queues, changed({ open: [entry('a')] }));
    expect(enqueueOutcome(ask(entry('a')), state)).toEqual({ outcome: 'look_again' });
    expect(enqueueOutcome(ask(entry('a'), { a: { kind: 'unmade' } }), state)).toEqual({
      outcome: 'joined',
      requestId: 'a',
    });
  });

  it('puts another request in the place of one that is over', () => {
    given(queues, changed({ open: [entry('a', 'd')] }))
      .when((queue) => enqueue(ask(entry('b', 'd'), { a: { kind: 'over' } }), queue))
      .accepts(changed({ open: [entry('b', 'd')] }));
  });

  it('approval 15 cools down for a quarter of an hour after a denial', () => {
    const { state } = given(queues, changed({ open: [entry('a', 'd')] }));
    const denied: Found = { kind: 'denied', at: at(0).toISOString() };
    expect(enqueueOutcome(ask(entry('b', 'd'), { a: denied }, 14.9), state)).toEqual({
      outcome: 'cooling_down',
      until: at(15),
    });
    expect(enqueueOutcome(ask(entry('b', 'd'), { a: denied }, 15), state).outcome).toBe('enqueued');
  });

  it('approval 16 holds five open requests, and tells when the first of them ends', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const { state } = given(queues, changed({ open: ids.map((id) => entry(id)) }));
    const all = Object.fromEntries(ids.map((id) => [id, pending]));
    expect(enqueueOutcome(ask(entry('f')), state)).toEqual({ outcome: 'look_again' });
    expect(enqueueOutcome(ask(entry('f'), all), state)).toEqual({
      outcome: 'rate_limited',
      until: at(5),
    });
    const room = { ...all, c: { kind: 'over' } as const };
    given(queues, changed({ open: ids.map((id) => entry(id)) }))
      .when((queue) => enqueue(ask(entry('f'), room), queue))
      .accepts(changed({ open: ['a', 'b', 'd', 'e', 'f'].map((id) => entry(id)) }));
  });

  it('approval 15 is muted by the third denial within an hour, and by no older ones', () => {
    const two = changed({ denials: [at(0).toISOString(), at(30).toISOString()] });
    given(queues, two)
      .when((queue) => countDenial(at(59), queue))
      .accepts(changed({ muted_until: at(119).toISOString() }));
    given(queues, two)
      .when((queue) => countDenial(at(61), queue))
      .accepts(changed({ denials: [at(30).toISOString(), at(61).toISOString()] }));
    const { state } = given(queues, changed({ muted_until: at(60).toISOString() }));
    expect(enqueueOutcome(ask(entry('a'), {}, 59), state)).toEqual({
      outcome: 'muted',
      until: at(60),
    });
    expect(enqueueOutcome(ask(entry('a'), {}, 60), state).outcome).toBe('enqueued');
  });

  it('is muted for the longest time that anyone asked for', () => {
    given(queues, changed({ muted_until: at(60).toISOString() }))
      .when((queue) => mute(at(30), queue))
      .accepts();
  });

  it('is told apart by tenant, agent and user, however they are cut', () => {
    const ids = [
      queueIdOf({ tenantId: 'a', agentId: 'b', userId: 'c' }),
      queueIdOf({ tenantId: 'ab', agentId: '', userId: 'c' }),
      queueIdOf({ tenantId: 'a', agentId: 'c', userId: 'b' }),
    ];
    expect(new Set(ids).size).toBe(3);
    expect(ids[0]).toMatch(/^[0-9a-z]{51}$/);
  });
});
