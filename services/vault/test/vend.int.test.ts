import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FIELDS, newTenant, type VaultFixture, vaultFixture } from './fixture.ts';

const database = testDatabase();
let fixture: VaultFixture;
beforeAll(async () => {
  fixture = await vaultFixture(database.url);
});
afterAll(async () => {
  await fixture?.stop();
});

const countOf = async (tenantId: string, type: string) =>
  (await fixture.eventsOf(tenantId)).filter((event) => event.type === type).length;

const policy = (tenantId: string, more: object = {}) =>
  fixture.admin(tenantId).post('/api/v1/vault/approval-policies', {
    name: 'ask first',
    service_name: 'db',
    fields: '*',
    agent_ids: '*',
    effect: 'require_approval',
    ...more,
  });

describe('vending', () => {
  it('vault 2 agent, service, secret and session that were just made are vended to at once, 100 times', async () => {
    const round = async () => {
      const tenantId = newTenant();
      await fixture.keep(tenantId);
      const { status, body } = await fixture.session({ tenantId }).vend();
      return { status, fields: body.data?.fields, tenantId };
    };
    for (let lane = 0; lane < 10; lane += 1) {
      for (const { status, fields, tenantId } of await Promise.all(
        Array.from({ length: 10 }, round),
      )) {
        expect([status, fields]).toEqual([200, { password: `secret of ${tenantId}`, user: 'ann' }]);
      }
    }
  });

  it('meets the same grant again under the same Idempotency-Key, also by force', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const session = fixture.session({ tenantId });
    const headers = { 'idempotency-key': 'once' };
    const first = await session.vend({ force_refresh: true }, headers);
    const second = await session.vend({ force_refresh: true }, headers);
    expect([second.status, second.body]).toEqual([200, first.body]);
    const third = await session.vend({ force_refresh: true }, { 'idempotency-key': 'twice' });
    expect(third.body.data.grant_id).not.toBe(first.body.data.grant_id);
    expect(await countOf(tenantId, 'CredentialGranted')).toBe(2);
  });

  it('vault 5 fifty parallel vends of one slot, in any order of fields, make one grant', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const session = fixture.session({ tenantId });
    const forms = [FIELDS, FIELDS.toReversed(), [...FIELDS, ...FIELDS]];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => session.vend({ fields: forms[at % 3] ?? [] })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(new Set(answers.map(({ body }) => body.data.grant_id)).size).toBe(1);
    expect(await countOf(tenantId, 'CredentialGranted')).toBe(1);
  });

  it('vault 6 a forced refresh makes a new grant, which a plain vend then gets', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const session = fixture.session({ tenantId });
    const first = (await session.vend()).body.data;
    const forced = (await session.vend({ force_refresh: true })).body.data;
    const plain = (await session.vend()).body.data;
    expect(forced.grant_id).not.toBe(first.grant_id);
    expect(plain).toEqual(forced);
  });

  it('answers 202 while a person has not decided, and hands out once they have', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    await fixture.vouch(tenantId, ['ann']);
    expect((await policy(tenantId)).status).toBe(201);
    const session = fixture.session({ tenantId });
    const asked = await session.vend();
    expect([asked.status, Object.keys(asked.body.data).sort()]).toEqual([
      202,
      ['approval_id', 'approval_required', 'binding_message', 'expires_in', 'interval', 'poll_url'],
    ]);
    const { approval_id } = asked.body.data;
    expect(asked.body.data.poll_url).toBe(`/api/v1/ciba/token/${approval_id}`);
    expect((await session.vend()).body.data.approval_id).toBe(approval_id);
    const pending = await session.vend({ approval_id });
    expect([pending.status, pending.body.data.expires_in]).toEqual([202, 100]);
    fixture.approval.decide(approval_id, 'approved');
    const granted = await session.vend({ approval_id });
    expect(granted.status).toBe(200);
    expect((await session.vend()).body.data.grant_id).toBe(granted.body.data.grant_id);
    expect((await session.vend({ approval_id })).body).toEqual(granted.body);
    expect(await countOf(tenantId, 'CredentialGranted')).toBe(1);
  });
});
