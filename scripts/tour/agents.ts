/**
 * Steps 8 to 13: an agent is made, a secret is stored, the agent requests it, a user decides, and it is
 * handed out once.
 */
import { type Agent, as, bobsEmail, type Cast, PASSWORD } from './cast.ts';
import { expect, type Reply } from './player.ts';

const OLD_VALUE = 'a-value-from-before-the-rotation';
const SECRET_VALUE = 'a-value-that-only-the-agent-may-see';
const FIELDS = ['username', 'password'];

type Session = { readonly id: string; readonly capability: string; readonly token: string };

export async function agentIsMade(cast: Cast): Promise<Agent> {
  const { player } = cast;
  player.step(8, 'An agent is made, and its key is shown once');
  const headers = as(cast, cast.adminToken);
  const agent = await player.call(
    {
      method: 'POST',
      path: '/api/v1/agents',
      headers,
      body: {
        name: `deployer-${cast.run}`,
        services: [{ service_name: 'warehouse', fields: ['username', 'password'] }],
      },
    },
    201,
    ['id', 'status'],
  );
  const key = await player.call(
    {
      method: 'POST',
      path: `/api/v1/agents/${agent.body.id}/keys`,
      headers,
      body: { name: 'ci' },
    },
    201,
    ['prefix', 'key'],
  );
  cast.expectedAudit.add('agent.created').add('agent.key_created');
  return { id: agent.body.id, key: key.body.key };
}

export async function secretIsKept(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(
    9,
    'A service and its secret are registered, and a pending version is promoted; no answer shows a value',
  );
  const headers = as(cast, cast.adminToken);
  const service = '/api/v1/vault/services';
  await player.call(
    {
      method: 'POST',
      path: service,
      headers,
      body: {
        name: 'warehouse',
        credential_type: 'static',
        fields: [...FIELDS, 'admin_password'].map((name) => ({ name })),
      },
    },
    201,
    ['name', 'credential_type'],
  );
  const fields = { username: 'svc-deploy', password: OLD_VALUE, admin_password: 'not-granted' };
  const secrets = { method: 'PUT', path: `${service}/warehouse/secrets`, headers };
  await player.call({ ...secrets, body: { fields } }, 200, ['service_name']);
  const pending = { fields: { password: SECRET_VALUE }, stage: 'pending' };
  const put = await player.call({ ...secrets, body: pending }, 200, ['fields.0.stage']);
  await player.call(
    {
      method: 'POST',
      path: `${service}/warehouse/promote`,
      headers,
      body: { versions: { password: 2 } },
    },
    200,
    ['fields.0.version', 'fields.0.replaced'],
  );
  const read = await player.call({ method: 'GET', path: `${service}/warehouse`, headers }, 200, [
    'fields.1.name',
    'fields.1.set',
  ]);
  expect(
    !put.text.includes(SECRET_VALUE) && !read.text.includes(SECRET_VALUE),
    'the value in no answer',
    'it stood there',
  );
  cast.expectedAudit
    .add('vault.service_created')
    .add('vault.secret_written')
    .add('vault.secret_promoted');
}

export async function agentAsks(cast: Cast, agent: Agent): Promise<Session> {
  const { player } = cast;
  player.step(
    10,
    'An admin vouches for the user, a policy asks for approval, and the agent opens a session on their behalf',
  );
  await player.call(
    {
      method: 'PATCH',
      path: `/api/v1/admin/users/${cast.userId}`,
      headers: as(cast, cast.adminToken),
      body: { vouched: true },
    },
    200,
    ['id', 'vouched'],
  );
  await player.call(
    {
      method: 'POST',
      path: '/api/v1/vault/approval-policies',
      headers: as(cast, cast.adminToken),
      body: {
        name: 'ask first',
        service_name: 'warehouse',
        fields: '*',
        agent_ids: '*',
        effect: 'require_approval',
      },
    },
    201,
    ['id', 'effect'],
  );
  const made = await player.call(
    {
      method: 'POST',
      path: '/api/v1/agent/sessions',
      headers: as(cast, agent.key),
      body: {
        services: [{ service_name: 'warehouse', fields: FIELDS }],
        subject_token: cast.userToken,
        purpose: 'deploy the release',
      },
    },
    201,
    ['data.id', 'data.user_id', 'data.capability_token'],
  );
  const { id, capability_token: capability, agent_token: token } = made.body.data;
  cast.expectedAudit
    .add('admin.user.update')
    .add('vault.policy_created')
    .add('agent.session_started');
  return { id, capability, token };
}

type Vend = { readonly approvalId?: string; readonly fields?: readonly string[] };

function vend(cast: Cast, agent: Agent, session: Session, { approvalId, fields }: Vend) {
  return {
    method: 'POST',
    path: `/api/v1/agent/sessions/${session.id}/credentials`,
    headers: { ...as(cast, agent.key), 'x-service-token': session.capability },
    body: {
      service_name: 'warehouse',
      fields: fields ?? FIELDS,
      ...(approvalId === undefined ? {} : { approval_id: approvalId }),
    },
  };
}

let approvalId = '';

export async function personDecides(cast: Cast, agent: Agent, session: Session): Promise<void> {
  const { player } = cast;
  player.step(11, 'The agent asks for the secret and is told to wait for a person');
  const asked = await player.call(vend(cast, agent, session, {}), 202, [
    'data.approval_id',
    'data.poll_url',
    'data.binding_message',
  ]);
  approvalId = asked.body.data.approval_id;

  player.step(12, 'The agent cannot approve; the user sees the request, approves, and only once');
  const request = `/api/v1/ciba/requests/${approvalId}`;
  const approve = (token: string) => ({
    method: 'POST',
    path: `${request}/approve`,
    headers: as(cast, token),
  });
  await player.call(approve(session.token), 401, ['error.code']);
  const poll: Promise<Reply> = player.call(
    { method: 'GET', path: `${request}/poll`, headers: as(cast, session.token) },
    200,
    ['status', 'responded_by'],
  );
  const pending = await player.call(
    { method: 'GET', path: '/api/v1/ciba/pending', headers: as(cast, cast.userToken) },
    200,
    ['requests.0.agent_name', 'requests.0.resource', 'requests.0.status'],
  );
  expect(
    pending.body.requests.some((row: { id: string }) => row.id === approvalId),
    'the request among the pending ones',
    pending.body,
  );
  if (cast.phone === undefined) await player.call(approve(cast.userToken), 200, ['status']);
  else {
    const page = `/approve/${approvalId}`;
    const signIn = { email: bobsEmail(cast), password: PASSWORD };
    await cast.phone.approves(`${player.base}${page}?in=${cast.tenantId}`, signIn);
    player.tell(`Bob has opened ${page} on his phone, signed in there and approved`);
  }
  const woken = await poll;
  expect(woken.body.status === 'approved', 'the long poll to wake', woken.body.status);
  await player.call(approve(cast.userToken), 409, ['error.code']);
  cast.expectedAudit.add('ciba.request_created').add('ciba.decision_refused').add('ciba.approved');
}

export async function agentGetsItsSecret(
  cast: Cast,
  agent: Agent,
  session: Session,
): Promise<void> {
  const { player } = cast;
  player.step(13, 'With the approval the secret is handed out, once; a field not granted is not');
  const first = await player.call(vend(cast, agent, session, { approvalId }), 200, [
    'data.grant_id',
    'data.fields.password',
    'data.expires_at',
  ]);
  expect(first.body.data.fields.password === SECRET_VALUE, 'the value that was stored', 'another');
  const again = await player.call(vend(cast, agent, session, { approvalId }), 200, [
    'data.grant_id',
  ]);
  expect(
    again.body.data.grant_id === first.body.data.grant_id,
    'the same grant',
    again.body.data.grant_id,
  );
  await player.call(vend(cast, agent, session, { fields: ['admin_password'] }), 403, [
    'error.code',
  ]);
  cast.expectedAudit
    .add('ciba.consumed')
    .add('credential_accessed')
    .add('credential_reused')
    .add('credential_denied');
}
