/** An approver must be vouched for, because anybody can register as a user, even an agent. */
import { randomUUID } from 'node:crypto';
import { authorityKey, changedKey } from '@cardea/auth';
import type { CurrentFacts } from '@cardea/contracts';
import type { Peers } from '@cardea/service';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  heard,
  newTenant,
  type Session,
  userUpdated,
  type VaultFixture,
  vaultFixture,
} from './fixture.ts';

const database = testDatabase();
const UNKNOWN: CurrentFacts = { agent: null, session: null, user: null };
type AskFacts = Peers['identity']['facts'];
let identitySays: AskFacts;
let timesAsked = 0;
let fixture: VaultFixture;
beforeAll(async () => {
  fixture = await vaultFixture(database.url, {
    peers: {
      identity: {
        facts: async (asked) => {
          timesAsked += 1;
          return identitySays(asked);
        },
      },
    },
  });
  identitySays = async () => UNKNOWN;
});
afterAll(async () => {
  await fixture?.stop();
});

const POLICIES = '/api/v1/vault/approval-policies';
const policy = (more: object = {}) => ({
  name: 'ask first',
  service_name: 'db',
  fields: '*',
  agent_ids: '*',
  effect: 'require_approval',
  ...more,
});
async function gated(more: object = {}): Promise<{ tenantId: string; session: Session }> {
  identitySays = async () => UNKNOWN;
  const tenantId = newTenant();
  await fixture.keep(tenantId);
  expect((await fixture.admin(tenantId).post(POLICIES, policy(more))).status).toBe(201);
  return { tenantId, session: fixture.session({ tenantId }) };
}
const agentOwnedBy = async (tenantId: string, agentId: string, owner: string | null) => {
  const event = await fixture.publish({
    source: 'identity',
    type: 'agent.created',
    tenantId,
    streamId: `agent-${agentId}`,
    data: {
      id: agentId,
      name: 'bot',
      description: null,
      status: 'active',
      owner_user_id: owner,
      app_id: null,
      services: [{ service_name: 'db', fields: ['*'] }],
      created_at: '2026-01-01T00:00:00.000Z',
    },
  });
  await heard(fixture, 'agents', 'tenant_id = $1 AND agent_id = $2 AND position = $3', [
    tenantId,
    agentId,
    event.position,
  ]);
};
/** Withdraws the vouch as identity does before it answers. Identity's event has not arrived over the bus yet. */
async function withdrawAtIdentity(tenantId: string, userId: string): Promise<void> {
  await fixture.shared.cache.raise(changedKey('user', userId), 2n ** 62n, 60_000);
  await fixture.shared.cache.set(authorityKey(tenantId), randomUUID());
}
const NOT_VOUCHED = [403, 'NO_APPROVER', { reason: 'approver_not_vouched' }];
const refusal = async (answer: ReturnType<Session['vend']>) => {
  const { status, code, body } = await answer;
  return [status, code, body.error?.details];
};

describe('S12 an approver who is not vouched for', () => {
  it('S12 is asked nothing, whether unknown, registered or no longer vouched for, and that is recorded', async () => {
    const { tenantId, session } = await gated();
    const { length } = fixture.approval.opened;
    expect(await refusal(session.vend())).toEqual(NOT_VOUCHED);
    await fixture.publish(userUpdated(tenantId, { id: 'ann' }));
    await heard(fixture, 'users', `tenant_id = $1 AND user_id = 'ann'`, [tenantId]);
    expect(await refusal(session.vend())).toEqual(NOT_VOUCHED);
    expect(fixture.approval.opened).toHaveLength(length);
    await fixture.vouch(tenantId, ['ann']);
    expect((await session.vend()).status).toBe(202);
    expect(fixture.approval.opened.at(-1)).toMatchObject({ user_id: 'ann', vouch_required: true });
    await fixture.vouch(tenantId, ['ann'], false);
    expect(await refusal(session.vend())).toEqual(NOT_VOUCHED);
    const refused = (await fixture.eventsOf(tenantId)).filter(({ type }) => type === 'VendRefused');
    expect(refused.map(({ data }) => data['code'])).toEqual(Array(3).fill('NO_APPROVER'));
  });

  it('is asked where no policy that governs requires a vouch, and each of them tells what that means', async () => {
    const { tenantId, session } = await gated({ approver_vouched: false });
    const asked = await session.vend();
    expect(asked.status).toBe(202);
    expect(fixture.approval.opened.at(-1)).toMatchObject({ vouch_required: false });
    const approval_id = asked.body.data.approval_id as string;
    fixture.approval.decide(approval_id, 'approved');
    expect((await session.vend({ approval_id })).status).toBe(200);
    const admin = fixture.admin(tenantId);
    const { policies } = (await admin.get(POLICIES)).body;
    expect(policies[0]).toMatchObject({
      approver_vouched: false,
      warnings: [{ code: 'approver_may_be_anybody' }],
    });
    const strict = await admin.post(POLICIES, policy({ name: 'strict' }));
    expect(strict.body).toMatchObject({ approver_vouched: true, warnings: [] });
    expect(await refusal(session.vend())).toEqual(NOT_VOUCHED);
  });

  it('S12 was vouched for when asked, and is not when the approval is used or the grant handed out again', async () => {
    const { tenantId, session } = await gated();
    await fixture.vouch(tenantId, ['ann']);
    const approval_id = (await session.vend()).body.data.approval_id as string;
    fixture.approval.decide(approval_id, 'approved');
    await fixture.vouch(tenantId, ['ann'], false);
    expect(await refusal(session.vend({ approval_id }))).toEqual(NOT_VOUCHED);
    await fixture.vouch(tenantId, ['ann']);
    expect((await session.vend({ approval_id })).status).toBe(200);
    expect((await session.vend()).status).toBe(200);
    await fixture.vouch(tenantId, ['ann'], false);
    expect(await refusal(session.vend())).toEqual(NOT_VOUCHED);
    expect(await refusal(session.vend({ approval_id }))).toEqual(NOT_VOUCHED);
  });

  it('R11 S12 of fifty parallel vends while a vouch is withdrawn, each gets the one grant or none, and later ones none', async () => {
    for (let round = 1; round <= 20; round += 1) {
      const { tenantId, session } = await gated();
      await fixture.vouch(tenantId, ['ann']);
      const approval_id = (await session.vend()).body.data.approval_id as string;
      fixture.approval.decide(approval_id, 'approved');
      identitySays = async () => ({ ...UNKNOWN, user: { status: 'active', vouched: false } });
      const vends = Array.from({ length: 50 }, async (_each, at) => {
        if (at === 25) await withdrawAtIdentity(tenantId, 'ann');
        return session.vend({ approval_id });
      });
      const answers = await Promise.all(vends);
      const told = new Set(answers.map(({ status, code }) => `${status} ${code ?? ''}`));
      for (const each of told) expect(['200 ', '403 NO_APPROVER']).toContain(each);
      const ids = answers.flatMap(({ body }) => body.data?.grant_id ?? []);
      expect(new Set(ids).size).toBeLessThanOrEqual(1);
      expect(await refusal(session.vend({ approval_id }))).toEqual(NOT_VOUCHED);
      await fixture.shared.cache.delete(changedKey('user', 'ann'));
    }
  });

  it('S12 stays as is through an event of before, and is not vouched for by a change of something else', async () => {
    const { tenantId, session } = await gated();
    await fixture.vouch(tenantId, ['ann']);
    const { position } = await fixture.publish(userUpdated(tenantId, { id: 'ann' }));
    await heard(fixture, 'users', 'tenant_id = $1 AND position = $2', [tenantId, position]);
    expect((await session.vend()).status).toBe(202);
  });
});

describe('S12 the owner of the agent', () => {
  it('S12 is asked where a policy says so, if there is one and is vouched for', async () => {
    const { tenantId, session } = await gated({ approver: 'agent_owner' });
    await fixture.vouch(tenantId, ['ann']);
    const { agentId } = session;
    expect(await refusal(session.vend())).toEqual([403, 'NO_APPROVER', undefined]);
    await agentOwnedBy(tenantId, agentId, null);
    expect(await refusal(session.vend())).toEqual([403, 'NO_APPROVER', undefined]);
    await agentOwnedBy(tenantId, agentId, 'olga');
    expect(await refusal(session.vend())).toEqual(NOT_VOUCHED);
    await fixture.vouch(tenantId, ['olga']);
    expect((await session.vend()).status).toBe(202);
    expect(fixture.approval.opened.at(-1)).toMatchObject({ user_id: 'olga' });
  });

  it('S12 is known from identity where the agent was heard of before owners were kept', async () => {
    const { tenantId, session } = await gated({ approver: 'agent_owner' });
    const { agentId } = session;
    await agentOwnedBy(tenantId, agentId, null);
    await fixture.shared.database.system.query(
      'UPDATE vault.agents SET position = 0 WHERE tenant_id = $1',
      [tenantId],
    );
    await fixture.vouch(tenantId, ['olga']);
    identitySays = async () => ({ ...UNKNOWN, agent: { services: [], owner_user_id: 'olga' } });
    expect((await session.vend()).status).toBe(202);
    expect(fixture.approval.opened.at(-1)).toMatchObject({ user_id: 'olga' });
  });

  it('is what the evaluation answers, and nobody where a vend would find none', async () => {
    const { tenantId, session } = await gated({ approver: 'agent_owner' });
    const { agentId } = session;
    const evaluated = async () => {
      const asked = { agent_id: agentId, service_name: 'db', fields: ['user'] };
      const { body } = await fixture.admin(tenantId).post(`${POLICIES}/evaluate`, asked);
      return [body.effect, body.approver, body.reason];
    };
    await agentOwnedBy(tenantId, agentId, 'olga');
    expect(await evaluated()).toEqual(['require_approval', null, 'approver_not_vouched']);
    await fixture.vouch(tenantId, ['olga', 'bob']);
    expect(await evaluated()).toEqual(['require_approval', 'agent_owner', undefined]);
    const bob = { approver: { user_id: 'bob' } };
    expect((await fixture.admin(tenantId).post(POLICIES, policy(bob))).status).toBe(201);
    expect(await evaluated()).toEqual(['require_approval', { user_id: 'bob' }, undefined]);
    await fixture.vouch(tenantId, ['bob'], false);
    expect(await evaluated()).toEqual(['require_approval', null, 'approver_not_vouched']);
  });
});

describe('a change that the bus has not brought yet', () => {
  const at = () => BigInt(Date.now()) * 1_000_000n;
  const narrowed =
    (services: readonly string[]): AskFacts =>
    async () => ({
      ...UNKNOWN,
      agent: {
        services: services.map((service_name) => ({ service_name, fields: ['*'] })),
        owner_user_id: null,
      },
    });

  it('of an agent is heard from identity, once for as long as nothing else changes', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const session = fixture.session({ tenantId });
    expect((await session.vend()).status).toBe(200);
    identitySays = narrowed([]);
    await fixture.shared.cache.raise(changedKey('agent', session.agentId), at(), 60_000);
    await fixture.shared.cache.set(authorityKey(tenantId), 'another');
    expect((await session.vend()).code).toBe('CREDENTIAL_SCOPE_DENIED');
    identitySays = narrowed(['db']);
    await fixture.shared.cache.raise(changedKey('agent', session.agentId), at() + 9n, 60_000);
    timesAsked = 0;
    for (let vends = 0; vends < 5; vends += 1) expect((await session.vend()).status).toBe(200);
    expect(timesAsked).toBe(1);
  });

  it('is 503 where identity does not answer within two seconds', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const session = fixture.session({ tenantId });
    await fixture.shared.cache.raise(changedKey('agent', session.agentId), at(), 60_000);
    identitySays = () => new Promise(() => {});
    const began = performance.now();
    const answer = await session.vend();
    expect([answer.status, answer.code]).toEqual([503, 'UNAVAILABLE']);
    expect(performance.now() - began).toBeGreaterThan(1_900);
  });

  it('S12 of who is vouched for bites at the next vend, and so does one that gives it', async () => {
    const { tenantId, session } = await gated();
    await fixture.vouch(tenantId, ['ann']);
    expect((await session.vend()).status).toBe(202);
    const said =
      (vouched: boolean): AskFacts =>
      async () => ({
        ...UNKNOWN,
        user: { status: 'active', vouched },
      });
    const changed = async (vouched: boolean) => {
      identitySays = said(vouched);
      await fixture.shared.cache.raise(changedKey('user', 'ann'), at(), 60_000);
      await fixture.shared.cache.set(authorityKey(tenantId), `${vouched}`);
    };
    try {
      await changed(false);
      expect(await refusal(session.vend())).toEqual(NOT_VOUCHED);
      await changed(true);
      expect((await session.vend()).status).toBe(202);
    } finally {
      await fixture.shared.cache.delete(changedKey('user', 'ann'));
    }
  });

  it('is not searched for in rows that may lag behind a cache that was lost', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const session = fixture.session({ tenantId });
    identitySays = narrowed([]);
    try {
      await fixture.shared.cache.set('identity:changed:through', String(at()));
      expect((await session.vend()).code).toBe('CREDENTIAL_SCOPE_DENIED');
    } finally {
      await fixture.shared.cache.delete('identity:changed:through');
    }
    expect((await session.vend()).status).toBe(200);
  });
});
