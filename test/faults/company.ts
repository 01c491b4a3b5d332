/**
 * A company in use: what users, keys and agents of one tenant may do, each tried at any process. Revoked ones may do
 * nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import { type RestAnswer, type RestDriver, untilTrue } from '@cardea/testing';
import { ADMIN } from './instance.ts';

/** Well below the 30 s for which identity's answer about a key is cached. */
const NOTICE_MS_MAX = 20_000;
const SERVICE = 'warehouse';
const GATED = 'strongroom';
const VALUE = 'the value that is kept';
const PASSWORD = 'a password that nobody guesses';

type Machine = {
  readonly agentId: string;
  readonly keyId: string;
  readonly key: string;
  readonly sessionId: string;
  readonly capability: string;
};
type Person = { readonly id: string; readonly email: string; readonly token: string };

type Account = { readonly email: string; readonly password: string };

export type Company = Awaited<ReturnType<typeof company>>;

/** Everything is created through one process; others give the same answers. */
export async function company(rest: RestDriver, tenant: string, account: Account = ADMIN) {
  const login = await must(200, rest.post('/api/v1/auth/login', account, { tenant }));
  const admin = rest.as({ bearer: login.body.access_token, tenant });
  const open = rest.as({ tenant });
  let users = 0;

  const person = async (): Promise<Person> => {
    users += 1;
    const email = `person${users}@example.com`;
    const body = { email, password: PASSWORD, email_verified: true };
    const made = await must(201, admin.post('/api/v1/admin/users', body));
    const { access_token: token } = (
      await must(200, open.post('/api/v1/auth/login', { email, password: PASSWORD }))
    ).body;
    return { id: made.body.id, email, token };
  };
  const apiKey = async (): Promise<{ id: string; key: string }> => {
    const body = { name: 'checks', scopes: ['fga:read'] };
    return (await must(201, admin.post('/api/v1/api-keys', body))).body;
  };
  /** An agent with a session, for itself or on behalf of the user whose token it gets. */
  const machine = async (token?: string): Promise<Machine> => {
    users += 1;
    const services = [SERVICE, GATED].map((service_name) => ({ service_name, fields: ['*'] }));
    const agent = await must(
      201,
      admin.post('/api/v1/agents', { name: `agent${users}`, services }),
    );
    const key = await must(201, admin.post(`/api/v1/agents/${agent.body.id}/keys`, { name: 'k' }));
    const asked = [SERVICE, GATED].map((service_name) => ({ service_name, fields: ['password'] }));
    const session = await must(
      201,
      rest.as({ bearer: key.body.key, tenant }).post('/api/v1/agent/sessions', {
        services: asked,
        purpose: 'to be there',
        ...(token === undefined ? {} : { subject_token: token }),
      }),
    );
    return {
      agentId: agent.body.id,
      keyId: key.body.id,
      key: key.body.key,
      sessionId: session.body.data.id,
      capability: session.body.data.capability_token,
    };
  };

  for (const name of [SERVICE, GATED]) {
    const service = { name, credential_type: 'static', fields: [{ name: 'password' }] };
    await must(201, admin.post('/api/v1/vault/services', service));
    const fields = { password: VALUE };
    await must(200, admin.put(`/api/v1/vault/services/${name}/secrets`, { fields }));
  }
  const policy = { name: 'ask', service_name: GATED, fields: '*', agent_ids: '*' };
  await must(
    201,
    admin.post('/api/v1/vault/approval-policies', { ...policy, effect: 'require_approval' }),
  );
  await must(201, admin.post('/api/v1/fga/tuples', tuple('ann')));
  return {
    tenant,
    admin,
    person,
    apiKey,
    machine,
    /** A token of a session that no other test uses. */
    refreshToken: async (): Promise<string> =>
      (await must(200, open.post('/api/v1/auth/login', account))).body.refresh_token,
    /** A token of a session that was revoked. */
    revokedRefreshToken: async (): Promise<string> => {
      const { body } = await must(200, open.post('/api/v1/auth/login', account));
      const own = admin.as({ bearer: body.access_token });
      await done(own.delete(`/api/v1/me/sessions/${sidOf(body.access_token)}`));
      return body.refresh_token;
    },
  };
}

const tuple = (user: string) => ({
  user_type: 'user',
  user_id: user,
  relation: 'viewer',
  object_type: 'document',
  object_id: 'plan',
});

/** Requests to one process, wherever their subject was created. */
export function addresses(rest: RestDriver, tenant: string) {
  const as = (bearer?: string) => rest.as({ tenant, bearer });
  return {
    logIn: (email: string = ADMIN.email, password: string = ADMIN.password) =>
      as().post('/api/v1/auth/login', { email, password }),
    refresh: (token: string) => as().post('/api/v1/auth/refresh', { refresh_token: token }),
    check: (key: string, user: string) => as(key).post('/api/v1/fga/check', tuple(user)),
    profile: (token: string) => as(token).get('/api/v1/user/profile'),
    vend: ({ key, sessionId, capability }: Machine, service: string = SERVICE) =>
      as(key).post(
        `/api/v1/agent/sessions/${sessionId}/credentials`,
        { service_name: service, fields: ['password'] },
        { headers: { 'x-service-token': capability } },
      ),
    vendGated: (machine: Machine) => addresses(rest, tenant).vend(machine, GATED),
    /** Waits until somebody decides, for at most half a minute. */
    longPoll: (token: string, approvalId: string) =>
      as(token).get(`/api/v1/ciba/requests/${approvalId}/poll`),
    approve: (token: string, approvalId: string) =>
      as(token).call('POST', `/api/v1/ciba/requests/${approvalId}/approve`),
    poll: ({ key }: Machine, approvalId: string) => as(key).get(`/api/v1/ciba/token/${approvalId}`),
    startSession: ({ key }: Machine) =>
      as(key).post('/api/v1/agent/sessions', {
        services: [{ service_name: SERVICE, fields: ['password'] }],
      }),
    cacheHealth: () => rest.get('/health/cache'),
  };
}

export type Addresses = ReturnType<typeof addresses>;

/** Credentials revoked each in a different way, and how each is used. */
export async function revokeEach(of: Company): Promise<Revoked> {
  const [key, person] = [await of.apiKey(), await of.person()];
  const [suspended, keyless, sessionless] = [
    await of.machine(),
    await of.machine(),
    await of.machine(),
  ];
  return {
    key: key.key,
    person,
    suspended,
    keyless,
    sessionless,
    revoke: async () => {
      const { admin } = of;
      await done(admin.delete(`/api/v1/api-keys/${key.id}`));
      await done(admin.patch(`/api/v1/admin/users/${person.id}`, { status: 'disabled' }));
      await done(admin.patch(`/api/v1/agents/${suspended.agentId}`, { status: 'suspended' }));
      await done(admin.delete(`/api/v1/agents/${keyless.agentId}/keys/${keyless.keyId}`));
      const own = admin.as({ bearer: sessionless.key });
      await done(own.delete(`/api/v1/agent/sessions/${sessionless.sessionId}`));
    },
  };
}

export type Revoked = {
  readonly key: string;
  readonly person: Person;
  readonly suspended: Machine;
  readonly keyless: Machine;
  readonly sessionless: Machine;
  revoke(): Promise<void>;
};

/** Status by attempt; all are live before they are revoked. */
export async function triesOf(at: Addresses, of: Revoked): Promise<{ [tried: string]: number }> {
  const tries: { readonly [tried: string]: Promise<RestAnswer> } = {
    'key checks': at.check(of.key, 'ann'),
    'person reads': at.profile(of.person.token),
    'suspended agent vends': at.vend(of.suspended),
    'agent without its key vends': at.vend(of.keyless),
    'agent vends in an ended session': at.vend(of.sessionless),
  };
  const statuses: { [tried: string]: number } = {};
  for (const [tried, answer] of Object.entries(tries)) statuses[tried] = (await answer).status;
  return statuses;
}

export const LIVE = {
  'key checks': 200,
  'person reads': 200,
  'suspended agent vends': 200,
  'agent without its key vends': 200,
  'agent vends in an ended session': 200,
};
export const REVOKED = {
  'key checks': 401,
  'person reads': 401,
  'suspended agent vends': 401,
  'agent without its key vends': 401,
  'agent vends in an ended session': 404,
};

/** `sid` of an access token. */
const sidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')).sid;

/** With a cache every process is notified, but possibly a moment after the answer. */
export async function untilRevoked(at: Addresses, of: Revoked): Promise<void> {
  await untilTrue(async () => isDeepStrictEqual(await triesOf(at, of), REVOKED), {
    deadlineMs: NOTICE_MS_MAX,
    what: 'all that was revoked is refused',
  });
}

async function must(status: number, answer: Promise<RestAnswer>): Promise<RestAnswer> {
  const got = await answer;
  if (got.status !== status) throw new Error(`${got.status} instead of ${status}: ${got.text}`);
  return got;
}

async function done(answer: Promise<RestAnswer>): Promise<void> {
  const { status, text } = await answer;
  if (status !== 200 && status !== 204) throw new Error(`${status}: ${text}`);
}
