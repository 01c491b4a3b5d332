/** The twelve requests whose statements are counted. Each can be sent repeatedly. */
import { randomBytes } from 'node:crypto';
import type { RestAnswer, RestDriver } from '@cardea/testing';

const SERVICE = 'warehouse';
const PASSWORD = 'a password that nobody guesses';

const unique = (): string => randomBytes(8).toString('hex');
const address = (): string => `${unique()}@example.com`;

export type CountedRequest = {
  readonly name: string;
  /** Its statements are not counted. */
  readonly prepare?: () => Promise<unknown>;
  readonly send: () => Promise<unknown>;
};

export async function countedRequests(
  rest: RestDriver,
  receiver: string,
): Promise<readonly CountedRequest[]> {
  const owner = (await signUp(rest)).body;
  const tenant: string = owner.tenant_id;
  const admin = rest.as({ bearer: owner.access_token, tenant });
  const open = rest.as({ tenant });
  const webhook = { url: receiver, events: ['user.created'] };
  await must(201, admin.post('/api/v1/webhooks', webhook));
  const member = { email: address(), password: PASSWORD };
  await must(201, admin.post('/api/v1/admin/users', { ...member, email_verified: true }));
  const logIn = () => must(200, open.post('/api/v1/auth/login', member));
  let { refresh_token: refreshToken } = (await logIn()).body;
  const key = { name: 'checks', scopes: ['fga:read'] };
  const checking = rest.as({
    bearer: (await must(201, admin.post('/api/v1/api-keys', key))).body.key,
    tenant,
  });
  await must(201, admin.post('/api/v1/fga/tuples', tuple('plan')));
  const agent = await agentOf(admin, rest, tenant);
  return [
    { name: 'sign-up', send: () => signUp(rest) },
    {
      name: 'register',
      send: () => {
        const body = { email: address(), password: PASSWORD, display_name: 'Ann' };
        return must(201, open.post('/api/v1/auth/register', body));
      },
    },
    { name: 'login', send: logIn },
    {
      name: 'refresh',
      send: async () => {
        const body = { refresh_token: refreshToken };
        const answer = await must(200, open.post('/api/v1/auth/refresh', body));
        refreshToken = answer.body.refresh_token;
      },
    },
    { name: 'profile read', send: () => must(200, admin.get('/api/v1/user/profile')) },
    {
      name: 'tuple written',
      send: () => must(201, admin.post('/api/v1/fga/tuples', tuple(unique()))),
    },
    { name: 'check', send: () => must(200, checking.post('/api/v1/fga/check', tuple('plan'))) },
    { name: 'API key created', send: () => must(201, admin.post('/api/v1/api-keys', key)) },
    { name: 'agent session', send: agent.startSession },
    {
      name: 'fresh vend',
      // Vends cache a tenant's services and policies for seconds, so the counted vend finds them cached.
      prepare: async () => {
        await agent.startSession();
        await agent.vend();
        await agent.startSession();
      },
      send: agent.vend,
    },
    { name: 'live vend again', send: agent.vend },
    {
      name: 'user created and told',
      send: () => {
        const body = { email: address(), display_name: 'Ann', email_verified: true };
        return must(201, admin.post('/api/v1/admin/users', body));
      },
    },
  ];
}

const signUp = (rest: RestDriver): Promise<RestAnswer> => {
  const body = { email: address(), password: PASSWORD, company_name: unique() };
  return must(201, rest.post('/api/v1/auth/signup', body));
};

const tuple = (object_id: string) => ({
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_id,
});

async function agentOf(admin: RestDriver, rest: RestDriver, tenant: string) {
  const service = { name: SERVICE, credential_type: 'static', fields: [{ name: 'password' }] };
  await must(201, admin.post('/api/v1/vault/services', service));
  const secrets = { fields: { password: 'kept' } };
  await must(200, admin.put(`/api/v1/vault/services/${SERVICE}/secrets`, secrets));
  const services = [{ service_name: SERVICE, fields: ['*'] }];
  const agent = await must(201, admin.post('/api/v1/agents', { name: 'agent', services }));
  const path = `/api/v1/agents/${agent.body.id}/keys`;
  const { body } = await must(201, admin.post(path, { name: 'k' }));
  const own = rest.as({ bearer: body.key, tenant });
  let session: { readonly id: string; readonly capability_token: string } | undefined;
  return {
    startSession: async () => {
      const asked = [{ service_name: SERVICE, fields: ['password'] }];
      const start = { services: asked, purpose: 'to be counted' };
      session = (await must(201, own.post('/api/v1/agent/sessions', start))).body.data;
    },
    vend: async () => {
      const body = { service_name: SERVICE, fields: ['password'] };
      const headers = { 'x-service-token': session?.capability_token ?? '' };
      const path = `/api/v1/agent/sessions/${session?.id}/credentials`;
      await must(200, own.post(path, body, { headers }));
    },
  };
}

async function must(status: number, answering: Promise<RestAnswer>): Promise<RestAnswer> {
  const answer = await answering;
  if (answer.status === status) return answer;
  throw new Error(`${answer.status} instead of ${status}: ${answer.text.slice(0, 300)}`);
}
