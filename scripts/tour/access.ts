/** Steps 19 and 20: two of a group have to approve, and an agent requests access that it lacks. */
import { as, type Cast, PASSWORD, signIn } from './cast.ts';
import { expect, pollUntil } from './player.ts';

const GROUP = { relation: 'editor', object_type: 'team', object_id: 'payments' };
const SET = 'team:payments#editor';
const WANTED = { service_name: 'archive', fields: ['token'] };
const VALUE = 'a-value-for-an-hour';
const AN_HOUR_S = 3_600;
const HOUR_MS = 3_600_000;

type Colleague = { readonly id: string; readonly token: string };

/** Creates a colleague who is vouched for and belongs to the group. */
async function colleague(cast: Cast, name: string): Promise<Colleague> {
  const { player } = cast;
  const headers = as(cast, cast.adminToken);
  const email = `${name}-${cast.run}@example.com`;
  const body = { email, password: PASSWORD, email_verified: true };
  const made = await player.call(
    { method: 'POST', path: '/api/v1/admin/users', headers, body },
    201,
  );
  const { id } = made.body;
  const path = `/api/v1/admin/users/${id}`;
  await player.call({ method: 'PATCH', path, headers, body: { vouched: true } }, 200, ['vouched']);
  const tuple = { user_type: 'user', user_id: id, ...GROUP };
  await player.call({ method: 'POST', path: '/api/v1/fga/tuples', headers, body: tuple }, 201);
  return { id, token: (await signIn(cast, email)).body.access_token };
}

export async function twoMustAgree(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(
    19,
    'Two of a group have to approve; the first one leaves it before the second, and nothing is approved',
  );
  const headers = as(cast, cast.adminToken);
  const first = await colleague(cast, 'carla');
  const second = await colleague(cast, 'dan');
  const asked = await player.call(
    {
      method: 'POST',
      path: '/api/v1/ciba/requests',
      headers,
      body: { agent_id: 'payer', user_id: SET, action: 'pay', approvals_needed: 2 },
    },
    201,
    ['user_id', 'approvals.needed', 'status'],
  );
  const path = `/api/v1/ciba/requests/${asked.body.id}`;
  const approve = ({ token }: Colleague) =>
    player.call({ method: 'POST', path: `${path}/approve`, headers: as(cast, token) }, 202, [
      'status',
      'approvals.given',
      'approvals.needed',
    ]);
  await approve(first);
  const tuple = { user_type: 'user', user_id: first.id, ...GROUP };
  await player.call({ method: 'DELETE', path: '/api/v1/fga/tuples', headers, body: tuple }, 200, [
    'status',
  ]);
  const { approvals } = (await approve(second)).body;
  expect(approvals.given === 1, 'one approval, that of who is still in the group', approvals);
  const shown = await player.call({ method: 'GET', path, headers }, 200, ['status', 'responders']);
  expect(shown.body.status === 'pending', 'a request that waits on', shown.body.status);
  cast.expectedAudit.add('ciba.given');
}

export async function agentAsksForAccess(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(
    20,
    'An agent without the field asks for it, an administrator allows it for an hour, and takes it back',
  );
  const headers = as(cast, cast.adminToken);
  const post = (path: string, body: unknown, by: Record<string, string> = headers) => ({
    ...{ method: 'POST', headers: by, body },
    path: `/api/v1${path}`,
  });
  const fields = WANTED.fields.map((name) => ({ name }));
  const service = { name: WANTED.service_name, credential_type: 'static', fields };
  await player.call(post('/vault/services', service), 201, ['name']);
  const secrets = `/api/v1/vault/services/${WANTED.service_name}/secrets`;
  const values = { fields: { token: VALUE } };
  await player.call({ method: 'PUT', path: secrets, headers, body: values }, 200);
  const agent = await player.call(post('/agents', { name: `clerk-${cast.run}` }), 201, [
    'id',
    'services',
  ]);
  const agentPath = `/api/v1/agents/${agent.body.id}`;
  const { key } = (await player.call(post(`/agents/${agent.body.id}/keys`, { name: 'ci' }), 201))
    .body;
  const own = as(cast, key);
  const begin = (services: readonly object[]) => post('/agent/sessions', { services }, own);
  const vend = ({ id, capability_token: capability }: { id: string; capability_token: string }) =>
    post(`/agent/sessions/${id}/credentials`, WANTED, { ...own, 'x-service-token': capability });
  const poor = await player.call(begin([]), 201, ['data.services']);
  await player.call(vend(poor.body.data), 403, ['error.code', 'error.details.request_access']);

  const wish = { services: [WANTED], duration_seconds: AN_HOUR_S, reason: 'the monthly run' };
  const asked = await player.call(post('/ciba/access-requests', wish, own), 201, [
    'action',
    'user_id',
    'access.duration_seconds',
    'status',
  ]);
  const request = `/ciba/requests/${asked.body.id}`;
  await player.call(post(`${request}/approve`, undefined, own), 401, ['error.code']);
  await player.call(post(`${request}/approve`, undefined), 200, ['status']);
  // Identity receives the approval through a topic, a moment later.
  const begun = await pollUntil(player, begin([WANTED]), ({ status }) => status === 201);
  expect(begun.status === 201, 'a session with the field', begun.body);
  const granted = await player.call(vend(begun.body.data), 200, [
    'data.fields.token',
    'data.expires_at',
  ]);
  expect(granted.body.data.fields.token === VALUE, 'the value that was stored', 'another');
  const shown = await player.call({ method: 'GET', path: agentPath, headers }, 200, [
    'services.0.service_name',
    'services.0.until',
  ]);
  const leftMs = Date.parse(shown.body.services[0].until) - Date.now();
  expect(leftMs <= HOUR_MS && leftMs > 0, 'an hour at most', shown.body.services);
  player.tell('The tour waits for no hour: test/story/agent-access.test.ts moves a clock past it');
  await player.call({ method: 'PATCH', path: agentPath, headers, body: { services: [] } }, 200, [
    'services',
  ]);
  await player.call(vend(begun.body.data), 403, ['error.code']);
  cast.expectedAudit.add('agent.updated');
}
