/** A change of a session takes effect at the next vend, even at the first one, which reads no row. */
import { CHANGES_FLOOR, changedKey } from '@cardea/auth';
import type { CurrentFacts } from '@cardea/contracts';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  newTenant,
  type Session,
  sessionData,
  startSession,
  type VaultFixture,
  vaultFixture,
} from './fixture.ts';

const database = testDatabase();
const NOT_YET = 2n ** 62n;
let fixture: VaultFixture;
let timesAsked = 0;
beforeAll(async () => {
  const facts = async ({ agentId = '', sessionId = '' }): Promise<CurrentFacts> => {
    timesAsked += 1;
    const session = { ...sessionData({ agentId, sessionId }, 1), ended_at: null };
    return { agent: null, session, user: null };
  };
  fixture = await vaultFixture(database.url, { peers: { identity: { facts } } });
});
afterAll(async () => {
  await fixture?.stop();
});

/** Sessions of one agent, all started. */
async function sessions(count: number): Promise<readonly Session[]> {
  const tenantId = newTenant();
  await fixture.keep(tenantId);
  const agentId = `agent-of-${tenantId}`;
  const all = Array.from({ length: count }, () => fixture.session({ tenantId, agentId }));
  for (const session of all) await startSession(fixture, tenantId, session);
  return all;
}

describe('a narrowed session whose event has not arrived', () => {
  it('is refused an older token at its first vend, after sessions of the same agent that are served', async () => {
    const [first, second, narrowed] = (await sessions(3)) as [Session, Session, Session];
    timesAsked = 0;
    expect((await first.vend()).status).toBe(200);
    expect((await second.vend()).status).toBe(200);
    expect(timesAsked).toBe(0);
    const key = changedKey('agent_session', narrowed.sessionId);
    await fixture.shared.cache.raise(key, NOT_YET, 60_000);
    expect((await narrowed.vend()).code).toBe('INVALID_CAPABILITY_TOKEN');
    expect((await second.vend()).status).toBe(200);
  });

  it('is refused it also where the cache has lost what was announced', async () => {
    const [first, narrowed] = (await sessions(2)) as [Session, Session];
    expect((await first.vend()).status).toBe(200);
    await fixture.shared.cache.set(CHANGES_FLOOR, String(NOT_YET));
    try {
      expect((await narrowed.vend()).code).toBe('INVALID_CAPABILITY_TOKEN');
    } finally {
      await fixture.shared.cache.delete(CHANGES_FLOOR);
    }
  });
});
