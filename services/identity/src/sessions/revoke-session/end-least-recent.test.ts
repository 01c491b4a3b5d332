import type { RecordedEvent } from '@cardea/event-store';
import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { endLeastRecentSessions } from './end-least-recent.policy.ts';

const MINUTE_MS = 60_000;

/** The policy, and how often it has counted the sessions of the user, of whom this many are live. */
function policyWith(alive: { now: number }) {
  const clock = fakeClock('2031-05-04T03:02:01Z');
  let counts = 0;
  const query = async ({ name }: { readonly name: string }) => {
    if (name !== 'identity_count_alive_sessions') return { rows: [], rowCount: 0 };
    counts += 1;
    return { rows: [{ all: alive.now, others: alive.now }], rowCount: 1 };
  };
  const policy = endLeastRecentSessions({
    clock,
    positions: { reached: async () => true },
    database: { tenant: () => ({ query }) },
    userDirectory: { byId: async () => ({ status: 'none' }) },
  } as unknown as Parameters<typeof endLeastRecentSessions>[0]);
  const event = {
    type: 'SessionStarted',
    position: 1n,
    data: { user_id: 'ann' },
    metadata: { tenantId: 'acme' },
  } as unknown as RecordedEvent;
  return { clock, counts: () => counts, signIn: () => policy.handle(event) };
}

describe('the sessions of a user [identity-25]', () => {
  it('are counted again when as many have started as may start', async () => {
    const alive = { now: 998 };
    const { counts, signIn } = policyWith(alive);
    await signIn();
    await signIn();
    await signIn();
    expect(counts()).toBe(1);
    alive.now = 1_001;
    await signIn();
    await signIn();
    expect(counts()).toBe(3);
  });

  it('are counted again after a minute, because another process may have led', async () => {
    const { clock, counts, signIn } = policyWith({ now: 5 });
    await signIn();
    await signIn();
    expect(counts()).toBe(1);
    await clock.advance(MINUTE_MS);
    await signIn();
    expect(counts()).toBe(2);
  });

  it('that start while they are counted leave less room', async () => {
    const { counts, signIn } = policyWith({ now: 999 });
    await Promise.all([signIn(), signIn()]);
    expect(counts()).toBe(2);
    await signIn();
    await signIn();
    expect(counts()).toBeGreaterThan(2);
  });
});
