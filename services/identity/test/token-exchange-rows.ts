/**
 * Requests for agent sessions. `POST /agent/sessions` and the token exchange must give the same result for each row.
 */
import * as openid from 'openid-client';
import { expect } from 'vitest';
import type { Account } from './identity-fixture.ts';
import { application, authorized, clientOf } from './oauth-fixture.ts';
import type { OAuthReplicas } from './oauth-replicas-fixture.ts';
import {
  type ExchangingAgent,
  grantOf,
  NAMED_SERVICES,
  type ServiceGrant,
} from './token-exchange-fixture.ts';

const ANY = [grantOf('warehouse', '*')];

export type TokenExchangeWorld = {
  readonly of: OAuthReplicas;
  readonly agent: ExchangingAgent;
  readonly user: Account;
};
export type TokenExchangeRow = {
  readonly what: string;
  /** The agent's grants; `NAMED_SERVICES` by default. */
  readonly granted?: readonly ServiceGrant[];
  /** Further fields of the agent and of its key. */
  readonly made?: (
    of: OAuthReplicas,
  ) => Promise<{ readonly agent?: object; readonly key?: object }>;
  /** Happens before either endpoint is called. */
  readonly given?: (world: TokenExchangeWorld) => Promise<unknown>;
  /** The subject token; the user's own access token by default. */
  readonly subject?: (world: TokenExchangeWorld) => Promise<string>;
  /** The services to request field by field. The scope names the same services. `NAMED_SERVICES` by default. */
  readonly services?: readonly ServiceGrant[];
};
export type RefusedRow = TokenExchangeRow & {
  readonly refused: {
    readonly status: number;
    readonly code: string;
    readonly error: string;
    /** A further event that only the token endpoint records: the client could not authenticate. */
    readonly besides?: 'ClientAuthFailed';
  };
};

const invalid_grant = { status: 400, code: 'invalid_subject_token', error: 'invalid_grant' };
const invalid_scope = { status: 403, code: 'scope_not_granted', error: 'invalid_scope' };
const invalid_client = { status: 401, code: 'invalid_agent_key', error: 'invalid_client' };
const wrongKey = { ...invalid_client, besides: 'ClientAuthFailed' } as const;

async function delegated({ of, agent, user }: TokenExchangeWorld, ...fields: string[]) {
  const body = { agent_id: agent.id, services: [grantOf('warehouse', ...fields)] };
  const made = await of.one.as(user).post('/api/v1/me/delegations', body);
  expect(made, made.text).toMatchObject({ status: 201 });
  return made.body.id as string;
}

const flowOf = async ({ of, user }: TokenExchangeWorld, fields: object, scope = 'openid') => {
  const client = await application(of.one, of.admin, fields);
  return authorized(of.one, { client, account: user, more: { scope } });
};

async function sessionOf({ of, agent, user }: TokenExchangeWorld) {
  const body = { services: NAMED_SERVICES, subject_token: user.access };
  const rest = of.one.rest.as({ bearer: agent.key, tenant: agent.tenantId });
  return (await rest.post('/api/v1/agent/sessions', body)).body.data;
}

const changed = async ({ of }: TokenExchangeWorld, path: string, body: object) =>
  expect((await of.one.as(of.admin).patch(path, body)).status).toBe(200);
const deleted = async ({ of }: TokenExchangeWorld, path: string) =>
  expect((await of.one.as(of.admin).delete(path)).status).toBe(200);

export const GRANTED_ROWS: readonly TokenExchangeRow[] = [
  { what: 'a service of the grant' },
  { what: 'no service', services: [] },
  {
    what: 'two services of three',
    granted: [...NAMED_SERVICES, grantOf('erp', 'api_key'), grantOf('mail', 'token')],
    services: [grantOf('mail', 'token'), grantOf('erp', 'api_key')],
  },
  {
    what: 'the fields of a delegation, by a grant of any field',
    granted: ANY,
    given: (world) => delegated(world, 'region', 'username'),
    services: [grantOf('warehouse', 'region', 'username')],
  },
  {
    what: 'the fields of a grant, by a delegation of any field',
    given: (world) => delegated(world, '*'),
  },
  {
    what: 'what grant and delegation have in common',
    given: (world) => delegated(world, 'password', 'region'),
    services: [grantOf('warehouse', 'password')],
  },
  {
    what: 'a session after an earlier delegation was withdrawn',
    given: async (world) => {
      const id = await delegated(world, 'region');
      await world.of.one.as(world.user).delete(`/api/v1/me/delegations/${id}`);
    },
  },
  {
    what: 'a session for whoever signed in at a first-party application with the whole account',
    subject: async (world) => {
      const grant_types = ['authorization_code'];
      const ours = { first_party: true, scopes: ['openid', 'account'], grant_types };
      return (await flowOf(world, ours, 'openid account')).access_token;
    },
  },
  {
    what: 'a session of an agent that belongs to an application',
    made: async ({ one, admin }) => ({ agent: { app_id: (await application(one, admin)).id } }),
  },
  {
    what: 'a session by a key for this network',
    made: async () => ({ key: { allowed_cidrs: ['127.0.0.0/8'] } }),
  },
];

export const REFUSED_ROWS: readonly RefusedRow[] = [
  {
    what: 'a service that is not granted',
    services: [grantOf('payroll', 'token')],
    refused: invalid_scope,
  },
  {
    what: 'one of two services that is not granted',
    services: [...NAMED_SERVICES, grantOf('payroll', 'token')],
    refused: invalid_scope,
  },
  {
    what: 'a service of which the delegation says nothing',
    granted: [...NAMED_SERVICES, grantOf('erp', 'api_key')],
    given: (world) => delegated(world, '*'),
    services: [grantOf('erp', 'api_key')],
    refused: invalid_scope,
  },
  { what: 'garbage', subject: async () => 'x.y.z', refused: invalid_grant },
  {
    what: 'an agent token',
    subject: async (world) => (await sessionOf(world)).agent_token,
    refused: invalid_grant,
  },
  {
    what: 'a capability token',
    subject: async (world) => (await sessionOf(world)).capability_token,
    refused: invalid_grant,
  },
  {
    what: 'the own key',
    subject: async ({ agent }) => agent.key,
    refused: invalid_grant,
  },
  {
    what: 'an API key',
    subject: async ({ of }) => {
      const body = { name: 'k', scopes: ['users:read'] };
      return (await of.one.as(of.admin).post('/api/v1/api-keys', body)).body.key;
    },
    refused: invalid_grant,
  },
  {
    what: 'an id_token',
    subject: async (world) => (await flowOf(world, { first_party: true })).id_token,
    refused: invalid_grant,
  },
  {
    what: 'a refresh token',
    subject: async ({ user }) => user.refresh,
    refused: invalid_grant,
  },
  {
    what: 'the token of an application without the whole account',
    subject: async (world) => (await flowOf(world, {})).access_token,
    refused: invalid_grant,
  },
  {
    what: 'the token of a machine',
    subject: async ({ of }) => {
      const fields = { type: 'm2m', redirect_uris: [] };
      const { client_id, client_secret = '' } = await application(of.one, of.admin, fields);
      const config = await clientOf(of.one, client_id, openid.ClientSecretPost(client_secret));
      return (await openid.clientCredentialsGrant(config)).access_token;
    },
    refused: invalid_grant,
  },
  {
    what: 'the token of another tenant’s user',
    subject: async ({ of }) => (await of.one.signUp('eve')).access,
    refused: invalid_grant,
  },
  {
    what: 'the token of an administrator who impersonates',
    subject: async ({ of, user }) => {
      const admin = await of.one.signInAgain(of.admin);
      const path = `/api/v1/admin/users/${user.userId}/impersonate`;
      const made = await of.one.as(admin).post(path, { reason: 'ticket 4711' });
      expect(made.text).toContain('access_token');
      return made.body.access_token;
    },
    refused: invalid_grant,
  },
  {
    what: 'a token of a user whose sessions an administrator ended',
    given: async ({ of, user }) => {
      const path = `/api/v1/admin/users/${user.userId}/revoke-sessions`;
      expect((await of.one.as(of.admin).post(path)).status).toBe(200);
    },
    refused: invalid_grant,
  },
  {
    what: 'a token of a user who is disabled',
    given: (world) =>
      changed(world, `/api/v1/admin/users/${world.user.userId}`, { status: 'disabled' }),
    refused: invalid_grant,
  },
  {
    what: 'a key that was revoked',
    given: (world) => deleted(world, `/api/v1/agents/${world.agent.id}/keys/${world.agent.keyId}`),
    refused: wrongKey,
  },
  {
    what: 'a key for another network',
    made: async () => ({ key: { allowed_cidrs: ['203.0.113.0/24'] } }),
    refused: wrongKey,
  },
  {
    what: 'the key of an agent that is suspended',
    given: (world) => changed(world, `/api/v1/agents/${world.agent.id}`, { status: 'suspended' }),
    refused: invalid_client,
  },
  {
    what: 'the key of an agent that is deleted',
    given: (world) => deleted(world, `/api/v1/agents/${world.agent.id}`),
    refused: invalid_client,
  },
];
