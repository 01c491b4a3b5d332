/** What `doctor` finds in the configuration of tenants. */
import { type ServiceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cardeaFixture, running } from './cardea-fixture.ts';

const database = testDatabase();
const { inJson, remove } = cardeaFixture(() => database.url);
let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await running(database.url);
});
afterAll(async () => {
  await fixture?.stop();
  remove();
});

describe('O13 doctor', () => {
  it('names the services whose values may be read back', async () => {
    const signUp = { email: 'reveal@example.com', password: 'a password for the tests' };
    const { body } = await fixture.rest.post('/api/v1/auth/signup', {
      ...signUp,
      company_name: 'Reveals',
    });
    const admin = fixture.rest.as({ bearer: body.access_token, tenant: body.tenant_id });
    const service = { name: 'shown', credential_type: 'static', fields: [{ name: 'password' }] };
    const made = await admin.post('/api/v1/vault/services', { ...service, reveal: true });
    expect(made.status).toBe(201);
    const { last } = await inJson(`doctor --management ${fixture.managementUrl}`);
    const found = last.checks.find(({ name }: { name: string }) => name === 'secret reveals');
    expect(found).toMatchObject({ status: 'ok' });
    expect(found.detail).toContain(`shown of tenant ${body.tenant_id}; VAULT_REVEAL is off`);
  });

  it('lists the policies whose approver is not vouched for', async () => {
    const password = 'a password for the tests';
    const signUp = { email: 'boss@example.com', password, company_name: 'Policies' };
    const { tenant_id: tenant, access_token: bearer } = (
      await fixture.rest.post('/api/v1/auth/signup', signUp)
    ).body;
    const stranger = { email: 'stranger@example.com', password };
    const { user_id } = (await fixture.rest.post('/api/v1/auth/register', stranger, { tenant }))
      .body;
    const admin = fixture.rest.as({ bearer, tenant });
    const service = { name: 'db', credential_type: 'static', fields: [{ name: 'password' }] };
    expect((await admin.post('/api/v1/vault/services', service)).status).toBe(201);
    const policy = {
      name: 'ask',
      service_name: 'db',
      fields: '*',
      agent_ids: '*',
      effect: 'require_approval',
      approver: { user_id },
    };
    const made = await untilTrue(async () => {
      const answer = await admin.post('/api/v1/vault/approval-policies', policy);
      return answer.status === 201 ? answer : undefined;
    });
    const lookAtPolicies = async () => {
      const { last } = await inJson(`doctor --management ${fixture.managementUrl}`);
      return last.checks.find(({ name }: { name: string }) => name === 'approval policies');
    };
    const found = await lookAtPolicies();
    expect(found.status).toBe('warning');
    expect(found.detail).toContain(`${made.body.id} of tenant ${tenant} asks ${user_id}`);
    await admin.delete(`/api/v1/vault/approval-policies/${made.body.id}`);
    expect((await lookAtPolicies()).status).toBe('ok');
    const open = await admin.post('/api/v1/vault/approval-policies', {
      ...policy,
      approver: 'session_user',
      approver_vouched: false,
    });
    const letting = await lookAtPolicies();
    expect(letting.status).toBe('warning');
    expect(letting.detail).toContain(`${open.body.id} of tenant ${tenant}`);
    const close = { settings: { registration: { mode: 'closed' } } };
    expect((await admin.patch(`/api/v1/admin/tenants/${tenant}`, close)).status).toBe(200);
    expect((await lookAtPolicies()).status).toBe('ok');
  });
});
