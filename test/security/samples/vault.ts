/** Requests to the vault's endpoints; the agent of tenant A vends what its session was opened for. */

import { SERVICE_GRANT, startSession } from '../agents-and-keys.ts';
import type { Fortress } from '../fortress.ts';
import type { Ask, Sample, Samples } from '../sample.ts';
import { expectStatus } from '../users.ts';

const VAULT = '/api/v1/vault';
const FIELDS = [{ name: 'api_key' }];
let made = 0;
const freshName = () => {
  made += 1;
  return `service-${made}`;
};
const newService = (name: string) => ({ name, credential_type: 'static', fields: FIELDS });
const newPolicy = () => ({
  name: 'four eyes',
  service_name: freshName(),
  fields: '*',
  agent_ids: '*',
  effect: 'require_approval',
});
const adminOf = ({ rest, a }: Fortress) => rest.as({ bearer: a.owner.access, tenant: a.tenantId });

async function someService(world: Fortress): Promise<Ask> {
  const name = freshName();
  expectStatus(await adminOf(world).post(`${VAULT}/services`, newService(name)), 201);
  return { params: { name } };
}

/** Version 1 of its only field is previous, 2 current, 3 pending. */
async function serviceWithVersions(world: Fortress, more: object = {}): Promise<string> {
  const name = freshName();
  const admin = adminOf(world);
  const service = { ...newService(name), ...more };
  expectStatus(await admin.post(`${VAULT}/services`, service), 201);
  for (const [value, stage] of [
    ['first', 'current'],
    ['second', 'current'],
    ['third', 'pending'],
  ]) {
    const write = { fields: { api_key: value }, stage };
    expectStatus(await admin.put(`${VAULT}/services/${name}/secrets`, write), 200);
  }
  return name;
}

async function somePolicy(world: Fortress): Promise<Ask> {
  const policy = await adminOf(world).post(`${VAULT}/approval-policies`, newPolicy());
  expectStatus(policy, 201);
  return { params: { id: policy.body.id } };
}

/** The service that all agents here were granted, with its secret. */
async function keepBilling(world: Fortress): Promise<void> {
  const admin = adminOf(world);
  const name = SERVICE_GRANT.service_name;
  const registered = await admin.post(`${VAULT}/services`, newService(name));
  if (registered.status === 409) return;
  expectStatus(registered, 201);
  const fields = { api_key: 'a value of the vault' };
  expectStatus(await admin.put(`${VAULT}/services/${name}/secrets`, { fields }), 200);
}

async function vendAsk(world: Fortress): Promise<Ask> {
  await keepBilling(world);
  const { sessionId: id } = world.a.agentsAndKeys.agent;
  return { params: { id }, body: { ...SERVICE_GRANT, force_refresh: true } };
}

/** Uses a separate session, because a session has a rate limit. */
async function someGrant(world: Fortress): Promise<Ask> {
  await keepBilling(world);
  const { agent } = world.a.agentsAndKeys;
  const subject = await world.logIn(world.a.member);
  const { sessionId: id, capability } = await startSession(world.rest, subject, agent.key);
  const vended = await world.rest.post(`/api/v1/agent/sessions/${id}/credentials`, SERVICE_GRANT, {
    bearer: agent.key,
    tenant: world.a.tenantId,
    headers: { 'x-service-token': capability },
  });
  expectStatus(vended, 200);
  return { params: { id: vended.body.data.grant_id } };
}

const byAdmin = (ask: Sample['ask'] = () => ({})): Sample => ({ by: 'admin', ask });

export const vaultSamples: Samples = {
  register_service: byAdmin(() => ({ body: newService(freshName()) })),
  list_services: byAdmin(),
  get_service: byAdmin(someService),
  change_service: byAdmin(async (world) => ({
    ...(await someService(world)),
    body: { description: 'Changed' },
  })),
  delete_service: byAdmin(someService),
  write_secrets: byAdmin(async (world) => ({
    ...(await someService(world)),
    body: { fields: { api_key: 'another value' } },
  })),
  list_secret_versions: byAdmin(async (world) => ({
    params: { name: await serviceWithVersions(world), field: 'api_key' },
  })),
  promote_secret_versions: byAdmin(async (world) => ({
    params: { name: await serviceWithVersions(world) },
    body: { versions: { api_key: 3 } },
  })),
  roll_back_secrets: byAdmin(async (world) => ({
    params: { name: await serviceWithVersions(world) },
    body: { fields: ['api_key'] },
  })),
  destroy_secret_version: byAdmin(async (world) => ({
    params: { name: await serviceWithVersions(world), field: 'api_key', version: '1' },
  })),
  reveal_secret: byAdmin(async (world) => ({
    params: { name: await serviceWithVersions(world, { reveal: true }), field: 'api_key' },
    body: { reason: 'the vendor asks for it' },
  })),
  add_approval_policy: byAdmin(() => ({ body: newPolicy() })),
  list_approval_policies: byAdmin(),
  get_approval_policy: byAdmin(somePolicy),
  change_approval_policy: byAdmin(async (world) => ({
    ...(await somePolicy(world)),
    body: { severity: 'high' },
  })),
  remove_approval_policy: byAdmin(somePolicy),
  evaluate_approval_policies: byAdmin(() => ({ body: { agent_id: 'any', ...SERVICE_GRANT } })),
  list_grants: byAdmin(),
  list_my_grants: { by: 'member', ask: () => ({}) },
  get_grant: byAdmin(someGrant),
  revoke_grant: byAdmin(someGrant),
  vend_credential: {
    by: 'agent key with capability',
    ask: vendAsk,
    but: { 'agent key': 401 },
  },
};
