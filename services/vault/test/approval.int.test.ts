/** Vends that require an approval: `docs/design/vault.md`, A vend that requires approval. */
import { armFailPoints } from '@cardea/runtime';
import { testDatabase } from '@cardea/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { heard, newTenant, type Session, type VaultFixture, vaultFixture } from './fixture.ts';

const database = testDatabase();
let fixture: VaultFixture;
beforeAll(async () => {
  fixture = await vaultFixture(database.url);
});
afterEach(() => {
  armFailPoints([]);
  fixture.approval.instead = undefined;
});
afterAll(async () => {
  await fixture?.stop();
});

const policyOf = async (tenantId: string, more: object = {}) => {
  const made = await fixture.admin(tenantId).post('/api/v1/vault/approval-policies', {
    name: 'ask first',
    service_name: 'db',
    fields: '*',
    agent_ids: '*',
    effect: 'require_approval',
    ...more,
  });
  expect(made.status).toBe(201);
  return made.body.id as string;
};

async function gated(more: { readonly userId?: string; readonly policy?: object } = {}) {
  const tenantId = newTenant();
  await fixture.keep(tenantId);
  await fixture.vouch(tenantId, ['ann']);
  const policyId = await policyOf(tenantId, more.policy);
  const session = fixture.session({ tenantId, ...(more.userId ? { userId: more.userId } : {}) });
  return { tenantId, policyId, session };
}

async function approved(session: Session): Promise<string> {
  const asked = await session.vend();
  expect(asked.status).toBe(202);
  const id = asked.body.data.approval_id as string;
  fixture.approval.decide(id, 'approved');
  return id;
}

const grantsOf = async (tenantId: string) =>
  (await fixture.eventsOf(tenantId)).filter(({ type }) => type === 'CredentialGranted');
const soon = () => new Date(Date.now() + 60_000).toISOString();

describe('a gated vend', () => {
  it('asks approval for exactly what is to be handed out', async () => {
    const { tenantId, policyId, session } = await gated({
      policy: { severity: 'high', ttl_seconds: 60, number_match: true },
    });
    await session.vend();
    const asked = fixture.approval.opened.at(-1);
    expect(asked).toMatchObject({
      tenant_id: tenantId,
      agent_id: session.agentId,
      session_id: session.sessionId,
      user_id: 'ann',
      service_name: 'db',
      fields: ['password', 'user'],
      policies: [{ id: policyId, version: 1, name: 'ask first' }],
      severity: 'high',
      ttl_seconds: 60,
      use_window_seconds: 300,
      grant_ttl_seconds: 900,
      number_match: true,
    });
    expect(asked?.['digest']).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(asked)).not.toContain('secret of');
  });

  it('asks for a second addressee after some time, to whom the approval is bound', async () => {
    const escalate = { after_seconds: 90, approver: { role: 'owner' } };
    const plain = await gated();
    await plain.session.vend();
    expect(fixture.approval.opened.at(-1)).not.toHaveProperty('escalate');
    const { tenantId, policyId, session } = await gated({ policy: { escalate } });
    const { data } = (await session.vend()).body;
    const asked = fixture.approval.opened.at(-1);
    expect(asked).toMatchObject({
      user_id: 'ann',
      session_user_id: 'ann',
      exclude_session_user: false,
      escalate,
    });
    expect(asked).not.toHaveProperty('approver');
    fixture.approval.decide(data.approval_id, 'approved');
    expect((await session.vend({ approval_id: data.approval_id })).status).toBe(200);

    const admin = fixture.admin(tenantId);
    const policies = '/api/v1/vault/approval-policies';
    const question = { agent_id: session.agentId, service_name: 'db', fields: ['user'] };
    const told = await admin.post(`${policies}/evaluate`, question);
    expect(told.body).toMatchObject({ effect: 'require_approval', escalate });
    const change = (body: object) => admin.patch(`${policies}/${policyId}`, body);
    const nobody = { after_seconds: 60, approver: { user_id: 'nobody' } };
    expect((await change({ escalate: nobody })).code).toBe('unknown_approver');
    for (const after_seconds of [59, 604_801]) {
      expect((await change({ escalate: { ...escalate, after_seconds } })).status).toBe(400);
    }
    const late = (await change({ escalate: { ...escalate, after_seconds: 300 } })).body;
    expect(late.warnings).toMatchObject([{ code: 'never_escalates' }]);
    expect((await change({ escalate: null })).body).toMatchObject({ escalate: null, warnings: [] });
  });

  it.each([
    [{ outcome: 'cooling_down', until: soon() }, 403, 'APPROVAL_DENIED'],
    [{ outcome: 'muted', until: soon() }, 403, 'APPROVAL_DENIED'],
    [{ outcome: 'user_inactive' }, 403, 'NO_APPROVER'],
    [{ outcome: 'user_not_vouched' }, 403, 'NO_APPROVER'],
    [{ outcome: 'rate_limited', retry_after: 7 }, 429, 'APPROVAL_RATE_LIMITED'],
    [{ outcome: 'unheard of' }, 503, 'UNAVAILABLE'],
  ])('vault 1 opening answers %o with %d %s', async (outcome, status, code) => {
    const { session } = await gated();
    fixture.approval.instead = () => outcome;
    const answer = await session.vend();
    expect([answer.status, answer.code]).toEqual([status, code]);
    if (status === 429) expect(answer.headers.get('retry-after')).toBe('7');
  });

  it.each([
    [{ outcome: 'not_found' }, 404, 'NOT_FOUND'],
    [{ outcome: 'mismatch' }, 403, 'APPROVAL_MISMATCH'],
    [{ outcome: 'denied' }, 403, 'APPROVAL_DENIED'],
    [{ outcome: 'user_inactive' }, 403, 'NO_APPROVER'],
    [{ outcome: 'user_not_vouched' }, 403, 'NO_APPROVER'],
    [{ outcome: 'expired' }, 410, 'APPROVAL_EXPIRED'],
    [{ outcome: 'consumed_by_other' }, 409, 'APPROVAL_CONSUMED'],
    [
      { outcome: 'consumed', again: true, use_before: '2020-01-01T00:00:00Z' },
      409,
      'APPROVAL_CONSUMED',
    ],
  ])('vault 1 bringing an approval answers %o with %d %s', async (outcome, status, code) => {
    const { tenantId, session } = await gated();
    fixture.approval.instead = () => outcome;
    const answer = await session.vend({ approval_id: 'approval-x' });
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect(await grantsOf(tenantId)).toEqual([]);
  });

  it('vault 1 nobody to ask: an agent for itself, two people named, a disabled one', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const user = (id: string, status: string) =>
      fixture.publish({
        source: 'identity',
        type: 'user.status_changed',
        tenantId,
        streamId: `user-${id}`,
        data: {
          id,
          email: null,
          display_name: null,
          email_verified: true,
          roles: [],
          status,
          created_at: soon(),
          changed: ['status'],
        },
      });
    await fixture.vouch(tenantId, ['bob', 'eve']);
    const approver = (user_id: string) => ({ approver: { user_id } });
    const alone = fixture.session({ tenantId, agentId: 'robot', userId: 'robot' });
    const ask = await policyOf(tenantId);
    expect((await alone.vend()).code).toBe('NO_APPROVER');
    await policyOf(tenantId, approver('bob'));
    expect((await alone.vend()).status).toBe(202);
    expect(fixture.approval.opened.at(-1)).toMatchObject({ user_id: 'bob' });
    await user('bob', 'disabled');
    await heard(fixture, 'users', `user_id = 'bob' AND status = 'disabled' AND tenant_id = $1`, [
      tenantId,
    ]);
    expect((await alone.vend()).code).toBe('NO_APPROVER');
    await policyOf(tenantId, approver('eve'));
    expect((await alone.vend()).code).toBe('NO_APPROVER');
    expect(ask).toBeTypeOf('string');
    const unknown = await fixture.admin(tenantId).post('/api/v1/vault/approval-policies', {
      name: 'p',
      service_name: '*',
      fields: '*',
      agent_ids: '*',
      effect: 'require_approval',
      ...approver('nobody'),
    });
    expect([unknown.status, unknown.code]).toEqual([400, 'unknown_approver']);
  });

  it('R11 vault 8 of fifty parallel vends with one approval, twenty times over, each time one grant is made', async () => {
    const { tenantId } = await gated();
    for (let round = 1; round <= 20; round += 1) {
      const session = fixture.session({ tenantId });
      const approval_id = await approved(session);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => session.vend({ approval_id })),
      );
      const told = new Set(answers.map(({ status, body }) => `${status} ${body.data?.grant_id}`));
      expect([...told]).toEqual([expect.stringMatching(/^200 /)]);
      expect(await grantsOf(tenantId)).toHaveLength(round);
    }
  });

  it('vault 8 an approval makes one grant, also after that was revoked or refreshed', async () => {
    const { tenantId, session } = await gated();
    const approval_id = await approved(session);
    const granted = await session.vend({ approval_id });
    const forced = await session.vend({ approval_id, force_refresh: true });
    expect([forced.status, forced.code]).toEqual([409, 'APPROVAL_CONSUMED']);
    const path = `/api/v1/vault/grants/${granted.body.data.grant_id}`;
    expect((await fixture.admin(tenantId).delete(path)).body).toEqual({ status: 'revoked' });
    const again = await session.vend({ approval_id });
    expect([again.status, again.code]).toEqual([409, 'APPROVAL_CONSUMED']);
    expect((await session.vend()).status).toBe(202);
    expect(await grantsOf(tenantId)).toHaveLength(1);
  });

  it('vault 8 S12 an approval opens nothing else: other fields, session, agent, policy version', async () => {
    const { tenantId, policyId, session } = await gated();
    const approval_id = await approved(session);
    const fields = await session.vend({ approval_id, fields: ['user'] });
    expect([fields.status, fields.code]).toEqual([403, 'APPROVAL_MISMATCH']);
    const { agentId } = session;
    const other = await fixture.session({ tenantId, agentId }).vend({ approval_id });
    expect([other.status, other.code]).toEqual([403, 'APPROVAL_MISMATCH']);
    const stranger = await fixture.session({ tenantId }).vend({ approval_id });
    expect([stranger.status, stranger.code]).toEqual([404, 'NOT_FOUND']);
    const path = `/api/v1/vault/approval-policies/${policyId}`;
    await fixture.admin(tenantId).patch(path, { severity: 'high' });
    const changed = await session.vend({ approval_id });
    expect([changed.status, changed.code]).toEqual([403, 'APPROVAL_MISMATCH']);
    expect(await grantsOf(tenantId)).toEqual([]);
  });

  it.each(['vend.after_consume', 'vend.before_answer'])(
    'vault 9 broken off at %s, the plain retry gets the one grant',
    async (name) => {
      const { tenantId, session } = await gated();
      const approval_id = await approved(session);
      armFailPoints([{ name, action: 'throw', delayMs: 0, at: 1 }]);
      const broken = await session.vend({ approval_id });
      expect([broken.status, broken.code]).toEqual([500, 'INTERNAL']);
      const retried = await session.vend({ approval_id });
      expect(retried.status).toBe(200);
      const made = await grantsOf(tenantId);
      expect(made.map(({ data }) => data['grant_id'])).toEqual([retried.body.data.grant_id]);
    },
  );

  it('vault 10 with approval stopped a gated vend is 503, an ungated one 200', async () => {
    const { tenantId, session } = await gated({ policy: { fields: ['password'] } });
    fixture.approval.instead = () => {
      throw new Error('stopped');
    };
    const gatedVend = await session.vend();
    expect([gatedVend.status, gatedVend.code]).toEqual([503, 'UNAVAILABLE']);
    expect((await session.vend({ fields: ['user'] })).status).toBe(200);
    expect(tenantId).toBeTypeOf('string');
  });

  it('vault 11 a field that is withdrawn after the approval is denied', async () => {
    const { tenantId, session } = await gated();
    const approval_id = await approved(session);
    const services = [{ service_name: 'db', fields: ['user'] }];
    await fixture.publish({
      source: 'identity',
      type: 'agent.updated',
      tenantId,
      streamId: `agent-${session.agentId}`,
      data: {
        id: session.agentId,
        name: 'a',
        description: null,
        status: 'active',
        owner_user_id: null,
        app_id: null,
        services,
        created_at: soon(),
        changed: ['services'],
      },
    });
    await heard(fixture, 'agents', 'agent_id = $1', [session.agentId]);
    const answer = await session.vend({ approval_id });
    expect([answer.status, answer.code, answer.body.error.details]).toEqual([
      403,
      'CREDENTIAL_SCOPE_DENIED',
      { fields: ['password'], request_access: 'POST /api/v1/ciba/access-requests' },
    ]);
    expect(await grantsOf(tenantId)).toEqual([]);
  });

  it('without a governing policy an approval id is ignored', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const session = fixture.session({ tenantId });
    const first = await session.vend({ approval_id: 'whatever' });
    expect(first.status).toBe(200);
    expect((await session.vend({ approval_id: 'another' })).body).toEqual(first.body);
  });

  it('a secret that cannot be opened uses up no approval', async () => {
    const { tenantId, session } = await gated();
    const approval_id = await approved(session);
    await fixture.shared.database.system.query(
      `UPDATE vault.secret_versions SET blob = set_byte(blob, length(blob) - 1, get_byte(blob, length(blob) - 1) # 1)
       WHERE tenant_id = $1`,
      [tenantId],
    );
    const { calls } = fixture.approval;
    const broken = await session.vend({ approval_id });
    expect([broken.status, broken.code]).toEqual([500, 'INTERNAL']);
    expect(fixture.approval.calls).toBe(calls);
  });
});
