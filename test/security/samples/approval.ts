/** Requests to the endpoints of approval requests. The agent of tenant A sends requests to its member. */
import { SERVICE_GRANT } from '../agents-and-keys.ts';
import type { Fortress } from '../fortress.ts';
import type { Ask, Samples } from '../sample.ts';
import { expectStatus } from '../users.ts';

const REQUESTS = '/api/v1/ciba/requests';

const question = ({ a }: Fortress) => ({
  agent_id: a.agentsAndKeys.agent.id,
  user_id: a.member.userId,
  action: 'write_data',
});

export async function someRequest(world: Fortress): Promise<{ readonly id: string }> {
  const { a, rest } = world;
  const { access: bearer } = a.owner;
  const made = await rest.post(REQUESTS, question(world), { bearer, tenant: a.tenantId });
  expectStatus(made, 201);
  return { id: made.body.id };
}

const onSome = async (world: Fortress): Promise<Ask> => ({ params: await someRequest(world) });

/** A request that was decided already, so that nobody waits. */
async function onDenied(world: Fortress): Promise<Ask> {
  const params = await someRequest(world);
  const { access: bearer, tenantId: tenant } = world.a.member;
  const path = `${REQUESTS}/${params.id}/deny`;
  expectStatus(await world.rest.post(path, {}, { bearer, tenant }), 200);
  return { params };
}

/** A request that its user has approved and nobody has used yet. */
async function onApprovedAction(world: Fortress): Promise<Ask> {
  const { a, rest } = world;
  const tenant = a.tenantId;
  const details = { cents: 1_000 };
  const body = { ...question(world), details };
  const made = await rest.post(REQUESTS, body, { bearer: a.owner.access, tenant });
  expectStatus(made, 201);
  const { id } = made.body;
  const { access: bearer } = a.member;
  expectStatus(await rest.post(`${REQUESTS}/${id}/approve`, {}, { bearer, tenant }), 200);
  return { params: { id }, body: { details } };
}

const CHANNELS = '/api/v1/ciba/channels';
const chat = ({ receiver }: Fortress) => ({ name: 'Ops', format: 'slack', url: receiver.url });

/** A channel of the tenant. The previous one is deleted first, because a new one is created each time. */
async function someChannel(world: Fortress): Promise<Ask> {
  const { rest, a } = world;
  const owner = rest.as({ bearer: a.owner.access, tenant: a.tenantId });
  const { channels } = (await owner.get(CHANNELS)).body;
  for (const { id } of channels) await owner.delete(`${CHANNELS}/${id}`);
  const made = await owner.post(CHANNELS, chat(world));
  expectStatus(made, 201);
  return { params: { id: made.body.id } };
}

/** Another sample changes the password without a session, which ends the member's sessions. */
const SIGNED_OUT = { member: 401 } as const;
const onChannel = { by: 'admin', ask: someChannel, but: SIGNED_OUT } as const;

const DEPUTY = '/api/v1/ciba/deputy';
const DAY_MS = 86_400_000;
/** A period so far ahead that no request of the other samples goes to the deputy. */
const farAhead = ({ a }: Fortress) => ({
  user_id: a.owner.userId,
  from: new Date(Date.now() + 200 * DAY_MS).toISOString(),
  until: new Date(Date.now() + 201 * DAY_MS).toISOString(),
});

/** The deputy of a person who has just signed in, because other samples end the sessions of the member. */
async function someDeputy(world: Fortress): Promise<Ask> {
  const person = await world.addUser(world.a.owner, ['member']);
  const { userId: user_id, access: bearer, tenantId: tenant } = person;
  const set = await world.rest.as({ bearer, tenant }).put(DEPUTY, farAhead(world));
  expectStatus(set, 200);
  return { params: { user_id } };
}

/** Only the user of the request decides. An agent gets the answer that a user has to decide. */
const DECIDES = {
  by: 'member',
  ask: onSome,
  but: {
    'system admin': 404,
    owner: 404,
    admin: 404,
    'agent key': 401,
    'agent key with capability': 401,
    'agent token': 401,
  },
} as const;

export const approvalSamples: Samples = {
  // The request ends at once, so that there is room for the next one.
  ask_for_access: {
    by: 'agent key',
    ask: () => ({ body: { services: [SERVICE_GRANT], duration_seconds: 300, ttl_seconds: 1 } }),
  },
  create_approval_request: {
    by: 'member',
    ask: (world) => ({ body: { ...question(world), details: { cents: 1_000 } } }),
    // The agent acts for somebody else.
    but: { 'agent token': 403 },
  },
  list_approval_requests: { by: 'admin', ask: () => ({}) },
  list_my_decisions: { by: 'member', ask: () => ({}) },
  list_pending_approvals: { by: 'member', ask: () => ({}) },
  get_approval_request: { by: 'member', ask: onSome },
  poll_approval_request: { by: 'member', ask: onDenied },
  poll_vend_approval: {
    by: 'member',
    ask: async (world) => ({ params: { approval_id: (await someRequest(world)).id } }),
  },
  consume_approval_request: { by: 'agent key', ask: onApprovedAction },
  list_approval_channels: { by: 'member', ask: () => ({}) },
  create_approval_channel: {
    by: 'admin',
    ask: (world) => ({ body: chat(world) }),
    but: SIGNED_OUT,
  },
  change_approval_channel: {
    ...onChannel,
    ask: async (world) => ({ ...(await someChannel(world)), body: { enabled: false } }),
  },
  delete_approval_channel: onChannel,
  test_approval_channel: {
    ...onChannel,
    // A member cannot find the tenant's channels.
    but: { member: 404, 'revoked session': 404 },
  },
  get_approval_deputy: { by: 'member', ask: () => ({}) },
  set_approval_deputy: {
    by: 'member',
    // Nobody has this id, so no other sample finds a deputy.
    ask: (world) => ({ body: { ...farAhead(world), user_id: 'nobody' } }),
    status: 422,
    but: SIGNED_OUT,
  },
  remove_approval_deputy: {
    by: 'member',
    ask: () => ({}),
    // Nobody here has a deputy, so the request can be sent again.
    status: 404,
    but: SIGNED_OUT,
  },
  list_approval_deputies: { by: 'admin', ask: () => ({}) },
  remove_approval_deputy_of_user: { by: 'admin', ask: someDeputy },
  approve_request: DECIDES,
  deny_request: DECIDES,
};
