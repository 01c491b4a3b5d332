/**
 * Each check of a vend's two tables, in order (`docs/design/vault.md`, A vend: the checks in their order).
 */
import { type RestAnswer, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  FIELDS,
  newTenant,
  type Session,
  startSession,
  type VaultFixture,
  vaultFixture,
} from './fixture.ts';

const database = testDatabase();
let rig: VaultFixture;
beforeAll(async () => {
  rig = await vaultFixture(database.url);
});
afterAll(async () => {
  await rig?.stop();
});

/** The requests of a vend. A test changes the part that should fail. */
type Attempt = {
  tenantId: string;
  session: Session;
  bearer: string | undefined;
  tenant: string | undefined;
  token: string | undefined;
  path: string;
  body: { [field: string]: unknown };
};
type Break = (attempt: Attempt) => Promise<void> | void;

const hourAgo = () => Math.floor(Date.now() / 1000) - 3600;
const capabilityOf = (attempt: Attempt, more: object): string => {
  const { tenantId, agentId: id, sessionId, keyId } = attempt.session;
  const grants = [{ s: 'db', f: ['user', 'password', 'extra'] }];
  return rig.tokens.capability({ tenantId, id, sessionId, keyId, userId: 'ann', grants, ...more });
};
const isHeardOf = ({ tenantId, session }: Attempt, epoch = 0) =>
  startSession(rig, tenantId, session, epoch);
const policy = async ({ tenantId }: Attempt, effect: string, more: object = {}) => {
  const body = { name: 'p', service_name: 'db', fields: '*', agent_ids: '*', effect, ...more };
  const made = await rig.admin(tenantId).post('/api/v1/vault/approval-policies', body);
  expect(made.status).toBe(201);
};

const rows: { readonly [row: string]: readonly [Break, number, string] } = {
  '1': [
    (a) => {
      a.bearer = `${a.bearer}x`;
    },
    401,
    'INVALID_AGENT_KEY',
  ],
  '1 revoked': [
    (a) => rig.shared.cache.set(`rev:key:${a.session.keyId}`, '1'),
    401,
    'INVALID_AGENT_KEY',
  ],
  '2': [
    (a) => {
      a.tenant = undefined;
    },
    400,
    'TENANT_REQUIRED',
  ],
  '3': [
    (a) => {
      a.tenant = 'another';
    },
    403,
    'TENANT_MISMATCH',
  ],
  '4': [
    (a) => {
      a.token = 'a.b.c';
    },
    401,
    'INVALID_CAPABILITY_TOKEN',
  ],
  '4 old epoch': [(a) => isHeardOf(a, 3), 401, 'INVALID_CAPABILITY_TOKEN'],
  '5a': [
    (a) => {
      a.path = 'unknown-session';
    },
    404,
    'NOT_FOUND',
  ],
  '5a ended': [
    (a) => rig.shared.cache.set(`rev:asid:${a.session.sessionId}`, '1'),
    404,
    'NOT_FOUND',
  ],
  '5b': [
    async (a) => {
      await isHeardOf(a);
      a.token = capabilityOf(a, {
        claims: { iat: hourAgo(), nbf: hourAgo(), exp: hourAgo() + 60 },
      });
    },
    401,
    'INVALID_CAPABILITY_TOKEN',
  ],
  '5c': [
    async (a) => {
      await isHeardOf(a);
      a.token = capabilityOf(a, { sessionId: 'another-session' });
    },
    403,
    'CREDENTIAL_SCOPE_DENIED',
  ],
  '7': [
    (a) => {
      a.body['fields'] = [];
    },
    400,
    'INVALID_REQUEST',
  ],
  '8': [
    (a) => {
      a.body['service_name'] = 'Unknown Service';
    },
    404,
    'NOT_FOUND',
  ],
  '8 disabled': [
    async (a) => {
      const path = '/api/v1/vault/services/db';
      const { status } = await rig.admin(a.tenantId).patch(path, { enabled: false });
      expect(status).toBe(200);
    },
    404,
    'NOT_FOUND',
  ],
  '9': [
    (a) => {
      a.body['fields'] = ['password', 'unknown'];
    },
    403,
    'CREDENTIAL_SCOPE_DENIED',
  ],
  '10': [
    (a) => {
      const fields = a.body['fields'] as readonly string[];
      a.body['fields'] = [...fields, 'extra'];
      a.token = capabilityOf(a, {});
    },
    409,
    'SECRET_NOT_SET',
  ],
  '11': [(a) => policy(a, 'deny'), 403, 'POLICY_DENIED'],
};

async function attemptWith(...breaks: readonly string[]): Promise<RestAnswer> {
  const tenantId = newTenant();
  await rig.keep(tenantId);
  const session = rig.session({ tenantId });
  const attempt: Attempt = {
    tenantId,
    session,
    bearer: session.key,
    tenant: tenantId,
    token: session.capability,
    path: session.sessionId,
    body: { service_name: 'db', fields: [...FIELDS] },
  };
  for (const name of breaks) await rows[name]?.[0](attempt);
  return send(attempt);
}

const send = ({ path, body, bearer, tenant, token }: Attempt) =>
  rig.rest.post(`/api/v1/agent/sessions/${path}/credentials`, body, {
    bearer,
    tenant,
    ...(token === undefined ? {} : { headers: { 'x-service-token': token } }),
  });

describe('the rows of a vend', () => {
  it.each(Object.keys(rows))('vault 1 row %s fails with its own answer', async (row) => {
    const [, status, code] = rows[row] ?? [];
    const answer = await attemptWith(row);
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  // The checks are made in this order, and the first that fails determines the response.
  it.each([
    ['1', '2'],
    ['1', '3'],
    ['1 revoked', '4'],
    ['2', '4'],
    ['3', '4'],
    ['4', '5a'],
    ['4 old epoch', '5a ended'],
    ['5a', '5b'],
    ['5a', '5c'],
    ['5b', '7'],
    ['5c', '7'],
    ['7', '8'],
    ['8', '9'],
    ['8 disabled', '9'],
    ['9', '10'],
    ['10', '11'],
  ])('vault 1 rows %s and %s together fail with the answer of the first', async (first, second) => {
    const answer = first === '9' ? await attemptWith('10', '9') : await attemptWith(second, first);
    const [, status, code] = rows[first] ?? [];
    expect([answer.status, answer.code]).toEqual([status, code]);
  });

  it('vault 1 an expired token of another session is row 5b before it is 5c', async () => {
    const tenantId = newTenant();
    await rig.keep(tenantId);
    const session = rig.session({ tenantId });
    const other = rig.session({
      tenantId,
      agentId: session.agentId,
      claims: { iat: hourAgo(), nbf: hourAgo(), exp: hourAgo() + 60, cnf: { akid: session.keyId } },
    });
    await isHeardOf({ tenantId, session } as Attempt);
    const answer = await session.vend({}, { 'x-service-token': other.capability });
    expect([answer.status, answer.code]).toEqual([401, 'INVALID_CAPABILITY_TOKEN']);
  });

  it('vault 1 tells which fields are denied or not set, and hands out none of the others', async () => {
    const denied = await attemptWith('9');
    const request_access = 'POST /api/v1/ciba/access-requests';
    expect(denied.body.error.details).toEqual({ fields: ['unknown'], request_access });
    const unset = await attemptWith('10');
    expect(unset.body.error.details).toEqual({ fields: ['extra'] });
    expect(`${denied.text}${unset.text}`).not.toContain('secret of');
  });

  it('vault 1 row 4 takes no token but a capability of this agent, key and tenant', async () => {
    const tenantId = newTenant();
    await rig.keep(tenantId);
    const session = rig.session({ tenantId });
    const { agentId, sessionId } = session;
    const foreign = rig.session({ tenantId: newTenant(), agentId, sessionId });
    const otherAgent = rig.session({ tenantId, sessionId });
    const otherKey = rig.session({ tenantId, agentId, sessionId });
    const access = rig.tokens.agent({ tenantId, id: agentId, sessionId });
    const [head, body] = session.capability.split('.');
    const forged = `${head}.${body}.${foreign.capability.split('.')[2]}`;
    const tokens = [foreign.capability, otherAgent.capability, otherKey.capability, access, forged];
    for (const token of tokens) {
      const answer = await session.vend({}, { 'x-service-token': token });
      expect([answer.status, answer.code]).toEqual([401, 'INVALID_CAPABILITY_TOKEN']);
    }
  });

  it('vault 1 row 1 takes no user, no API key, no agent token and no key from elsewhere', async () => {
    const tenantId = newTenant();
    await rig.keep(tenantId);
    const session = rig.session({ tenantId });
    const { agentId: id, sessionId } = session;
    const bearers = [
      undefined,
      rig.tokens.user({ tenantId, id: 'ann', roles: ['admin'] }),
      rig.tokens.apiKey({ tenantId, scopes: ['vault:read', 'vault:write'] }),
      rig.tokens.agent({ tenantId, id, sessionId }),
      rig.tokens.agentKey({ tenantId, id, allowedCidrs: ['10.0.0.0/8'] }).key,
    ];
    for (const bearer of bearers) {
      const answer = await send({
        tenantId,
        session,
        bearer,
        tenant: tenantId,
        token: session.capability,
        path: sessionId,
        body: { service_name: 'db', fields: FIELDS },
      });
      expect([answer.status, answer.code]).toEqual([401, 'INVALID_AGENT_KEY']);
    }
  });
});
