import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { Concurrency } from './concurrency.ts';

const attempt = (webhookId: string, origin: string, tenantId: string) => ({
  webhookId,
  origin,
  tenantId,
});
const WAIT_MS = 5_000;
const slotsOf = (most: number) => {
  const clock = fakeClock('2030-01-01T00:00:00Z');
  return { clock, slots: new Concurrency(most, clock) };
};

describe('the slots of a process', () => {
  it('gives an origin sixteen, and claims nothing for it while it is full', async () => {
    const { slots } = slotsOf(256);
    const given = Array.from({ length: 16 }, (_, at) =>
      slots.enterOriginNow(attempt(`w${at}`, 'https://a', `t${at}`)),
    );
    expect(given.every((leave) => leave !== undefined)).toBe(true);
    expect(slots.enterOriginNow(attempt('late', 'https://a', 't'))).toBeUndefined();
    const waits = slots.enterOrigin(attempt('late', 'https://a', 't'));
    expect(slots.claimable().skip).toContain('late');
    expect(slots.enterOriginNow(attempt('other', 'https://b', 't'))).toBeDefined();
    expect(slots.claimable().skip).not.toContain('other');
    given[0]?.();
    expect(await waits).toBeDefined();
    given[1]?.();
    expect(slots.claimable().skip).toEqual([]);
  });

  it('C1 lets tenants enter a full origin in turn, and sends back what waited too long', async () => {
    const { slots, clock } = slotsOf(256);
    const held = Array.from({ length: 16 }, () =>
      slots.enterOriginNow(attempt('w', 'https://a', 'busy')),
    );
    const order: string[] = [];
    const enter = async (tenantId: string) => {
      const leave = await slots.enterOrigin(attempt('w', 'https://a', tenantId));
      if (leave !== undefined) order.push(tenantId);
    };
    const waiting = ['busy', 'busy', 'busy', 'calm', 'busy'].map(enter);
    for (const leave of held.slice(0, 3)) leave?.();
    await clock.advance(WAIT_MS);
    await Promise.all(waiting);
    expect(order).toEqual(['busy', 'calm', 'busy']);
  });

  it('C1 gives a tenant a quarter of them, and the next one a quarter of the rest', () => {
    const { slots } = slotsOf(16);
    expect(slots.claimable().roomElse).toBe(4);
    for (let at = 0; at < 4; at++) slots.enter('busy');
    expect(slots.claimable()).toMatchObject({ rooms: new Map([['busy', 0]]), roomElse: 3 });
    expect(slots.free).toBe(12);
  });
});
