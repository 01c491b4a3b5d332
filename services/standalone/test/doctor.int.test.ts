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

  it('approval 25 warns of keys and machines that may name the approvers of a policy', async () => {
    const signUp = { email: 'sets@example.com', password: 'a password for the tests' };
    const { body } = await fixture.rest.post('/api/v1/auth/signup', {
      ...signUp,
      company_name: 'Sets',
    });
    const tenant: string = body.tenant_id;
    const admin = fixture.rest.as({ bearer: body.access_token, tenant });
    const service = { name: 'db', credential_type: 'static', fields: [{ name: 'password' }] };
    expect((await admin.post('/api/v1/vault/services', service)).status).toBe(201);
    const approver = { relation: 'member', object_type: 'team', object_id: 'payments' };
    const policy = { name: 'ask', service_name: 'db', fields: '*', agent_ids: '*' };
    const asking = { ...policy, effect: 'require_approval', approver };
    const made = await admin.post('/api/v1/vault/approval-policies', asking);
    expect(made.status, made.text).toBe(201);
    const found = async () => {
      const { last } = await inJson(`doctor --management ${fixture.managementUrl}`);
      return last.checks.find(({ name }: { name: string }) => name === 'approval policies');
    };
    expect((await found()).status).toBe('ok');
    const reads = { name: 'only reads', scopes: ['fga:read'] };
    expect((await admin.post('/api/v1/api-keys', reads)).status).toBe(201);
    expect((await found()).status).toBe('ok');

    const writes = { name: 'writes tuples', scopes: ['fga:write'] };
    const key = await admin.post('/api/v1/api-keys', writes);
    const warned = await found();
    expect(warned).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining(`${made.body.id} of tenant ${tenant}`),
    });
    expect(warned.detail).toContain('writes tuples');
    expect(warned.detail).not.toContain('only reads');
    expect((await admin.delete(`/api/v1/api-keys/${key.body.id}`)).status).toBe(200);
    expect((await found()).status).toBe('ok');

    const machine = { name: 'names approvers', type: 'm2m', machine_scopes: ['fga:write'] };
    const application = await admin.post('/api/v1/admin/applications', machine);
    expect(application.status, application.text).toBe(201);
    const ofMachine = await found();
    expect([ofMachine.status, ofMachine.detail.includes('names approvers')]).toEqual([
      'warning',
      true,
    ]);
    const path = `/api/v1/vault/approval-policies/${made.body.id}`;
    const byRole = await admin.patch(path, { approver: { role: 'admin' } });
    expect(byRole.status, byRole.text).toBe(200);
    expect((await found()).status).toBe('ok');
  });
});
