import type { AgentPrincipal, Looked } from '@cardea/auth';
import { describe, expect, it } from 'vitest';
import { liveRevocations } from './live-revocations.ts';

const agent: AgentPrincipal = {
  kind: 'agent',
  id: 'a1',
  tenantId: 't1',
  via: 'key',
  userId: null,
  agentSessionId: null,
  keyId: 'k1',
  appId: null,
};
const revoked = [false, false, false, false];

function look(subscriptionEpoch: number | undefined, looked: Looked) {
  const revocations = { subscriptionEpoch: () => subscriptionEpoch, look: async () => looked };
  const of = { agent, sessionId: 's1', capability: undefined };
  return liveRevocations({ revocations }, of);
}

describe('what is remembered of a tenant', () => {
  it('holds for one epoch in one subscriptionEpoch of hearing: a change during an outage may be in neither', async () => {
    const values = ['e1', 'x1', '7', '5', undefined, 'g1'];
    const before = await look(0, { revoked, values });
    const again = await look(0, { revoked, values });
    const after = await look(1, { revoked, values });
    expect(before.grantsEpoch).toBe(`${before.epoch} g1`);
    expect(after.grantsEpoch).not.toBe(before.grantsEpoch);
    expect(before.changes).toMatchObject({ floor: 7n, agent: 5n, session: 0n });
    expect(after.changes?.epoch).not.toBe(before.changes?.epoch);
    expect(again.epoch).toBe(before.epoch);
    expect(after.epoch).not.toBe(before.epoch);
  });

  it('is nothing without an epoch, or without the cache', async () => {
    const none = await look(0, { revoked, values: [undefined, undefined] });
    expect(none).toMatchObject({ epoch: undefined, changes: { floor: 0n, agent: 0n } });
    const away = await look(undefined, { revoked, values: undefined });
    expect(away).toMatchObject({ epoch: undefined, changes: undefined, grantsEpoch: undefined });
  });
});

describe('a mark', () => {
  it('of the key or of its agent ends the agent; others end what they name', async () => {
    const of = async (at: number) => {
      const values = ['e1'];
      const {
        agent: key,
        session,
        user,
      } = await look(0, {
        revoked: revoked.map((_, index) => index === at),
        values,
      });
      return [key, session, user];
    };
    expect([await of(0), await of(1), await of(2), await of(3)]).toEqual([
      [true, false, false],
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ]);
  });
});
