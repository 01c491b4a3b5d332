/** A bearer of each kind, and a request that it makes at each service that accepts it. */
import { pageCookies } from '@cardea/pages';
import { type RestAnswer, type RestDriver, testForm, untilTrue } from '@cardea/testing';
import {
  codeFor,
  hashOf,
  type ProofKey,
  proofBy,
  proofKey,
} from '../../services/identity/test/dpop-fixture.ts';
import { PASSWORD } from '../../services/identity/test/identity-fixture.ts';
import {
  application,
  authorized,
  type OAuthParty,
  token,
} from '../../services/identity/test/oauth-fixture.ts';
import {
  exchangingAgent,
  NAMED_SERVICES,
  postTokenExchange,
  tokenExchangeForm,
} from '../../services/identity/test/token-exchange-fixture.ts';

export type BearerKind =
  | 'sign-in'
  | "the pages' cookie"
  | 'impersonation'
  | 'application'
  | 'application, DPoP'
  | 'API key'
  | 'agent key'
  | 'agent token'
  | 'exchanged token'
  | 'machine'
  | 'machine, DPoP'
  | 'RS256';
type Bearer = { readonly text: string; readonly key?: ProofKey };
type Bearers = { readonly [kind in Exclude<BearerKind, typeof COOKIE>]: Bearer };

export type BearerRequest = {
  readonly request: string;
  readonly kind: BearerKind;
  /** Throws if the response is not the expected one. */
  readonly send: () => Promise<void>;
};

const COOKIE = "the pages' cookie";
const SCOPES = ['users:read', 'fga:read', 'vault:read'];
const MACHINE_SCOPES = [...SCOPES, 'approvals:read', 'webhooks:read', 'audit:read'].filter(
  (scope) => scope !== 'fga:read',
);
const TUPLE = { user_type: 'user', user_id: 'ann', relation: 'viewer' };
const PLAN = { ...TUPLE, object_type: 'document', object_id: 'plan' };
const MACHINES: readonly BearerKind[] = ['machine', 'machine, DPoP'];
const AGENTS: readonly BearerKind[] = ['agent token', 'exchanged token'];

/** The requests of each service's callers, and the kinds of bearer with which they are sent. */
const ASKED: readonly (readonly [string, readonly BearerKind[]])[] = [
  ['GET /api/v1/auth/me', ['sign-in', 'impersonation', 'RS256']],
  ['GET /api/v1/admin/users', ['sign-in', 'API key', ...MACHINES, 'RS256']],
  ['GET /api/v1/agent/sessions', ['sign-in', 'agent key', ...AGENTS]],
  [
    'POST /api/v1/fga/check',
    [
      ...(['sign-in', 'impersonation', 'application', 'application, DPoP', 'API key'] as const),
      ...[...AGENTS, ...MACHINES, 'RS256' as const],
    ],
  ],
  ['GET /api/v1/vault/services', ['sign-in', 'API key', ...MACHINES, 'RS256']],
  ['GET /api/v1/vault/grants', ['sign-in', 'API key', 'agent key', ...MACHINES]],
  ['GET /api/v1/ciba/requests', ['sign-in', ...MACHINES, 'RS256']],
  ['GET /api/v1/ciba/requests/{id}', ['sign-in', ...AGENTS]],
  ['GET /approve/{id}', [COOKIE]],
  ['GET /api/v1/webhooks', ['sign-in', ...MACHINES, 'RS256']],
  ['GET /api/v1/audit/events', ['sign-in', ...MACHINES, 'RS256']],
];
/** The short form sends one request with each kind, and one to each service with a sign-in. */
const isPlayed = (request: string, kind: BearerKind): boolean =>
  testForm.long ||
  kind === 'sign-in' ||
  kind === COOKIE ||
  request === 'POST /api/v1/fga/check' ||
  (request === 'GET /api/v1/agent/sessions' && kind === 'agent key');

export async function bearerRequests(
  rest: RestDriver,
  pageKey: Buffer,
): Promise<readonly BearerRequest[]> {
  const discovery = await rest.get('/.well-known/openid-configuration');
  const { issuer } = discovery.body as { readonly issuer: string };
  const owner = await ownerOf(rest);
  const as: OAuthParty['as'] = ({ access, tenantId }) =>
    rest.as({ bearer: access, tenant: tenantId });
  const party: OAuthParty = { as, baseUrl: rest.baseUrl, issuer };
  await must(201, as(owner).post('/api/v1/fga/tuples', PLAN));
  const { bearers, agentId } = await bearersOf(rest, party, owner);
  const ask = { agent_id: agentId, user_id: owner.userId, action: 'write_data' };
  // Approval receives person and agent over a topic.
  const asked = await untilTrue(async () => {
    const answer = await as(owner).post('/api/v1/ciba/requests', ask);
    return answer.status === 201 ? answer : undefined;
  });
  const keys = { current: pageKey, previous: undefined };
  const cookies = pageCookies(keys, { PUBLIC_URL: issuer });
  const [cookie = ''] = cookies.written(cookies.begun(owner.access)).split(';');
  return ASKED.flatMap(([request, kinds]) =>
    kinds
      .filter((kind) => isPlayed(request, kind))
      .map((kind) => {
        const [method = '', form = ''] = request.split(' ');
        const path = form.replace('{id}', asked.body.id);
        const body = method === 'POST' ? { body: PLAN } : {};
        const send = async (): Promise<void> => {
          const headers =
            kind === COOKIE
              ? { cookie, accept: 'text/html' }
              : await headersOf(bearers[kind], { method, path, issuer });
          const call = { tenant: owner.tenantId, headers, ...body };
          await must(kind === 'RS256' ? 401 : 200, rest.call(method, path, call));
        };
        return { request, kind, send };
      }),
  );
}

async function ownerOf(rest: RestDriver) {
  const email = 'owner@example.com';
  const body = { email, password: PASSWORD, company_name: 'Acme' };
  const { body: made } = await must(201, rest.post('/api/v1/auth/signup', body));
  const { user_id: userId, tenant_id: tenantId, access_token: access, refresh_token } = made;
  return { email, userId, tenantId, access, refresh: refresh_token as string };
}
type Owner = Awaited<ReturnType<typeof ownerOf>>;

/** Tokens of applications, of machines and of an agent, all of the owner's tenant. */
async function bearersOf(rest: RestDriver, party: OAuthParty, owner: Owner) {
  const own = party.as(owner);
  const member = { email: 'member@example.com', password: PASSWORD };
  const { body: user } = await must(201, own.post('/api/v1/admin/users', member));
  const seen = own.post(`/api/v1/admin/users/${user.id}/impersonate`, { reason: 'to be counted' });
  const key = await must(201, own.post('/api/v1/api-keys', { name: 'reads', scopes: SCOPES }));
  const spa = await application(party, owner, { scopes: ['openid', 'profile', 'email'] });
  const ofRsa = await application(party, owner, { id_token_signed_response_alg: 'RS256' });
  const proof = await proofKey();
  const code = await codeFor(party, { client: spa, account: owner });
  const bound = await token(party, code, { dpop: await proofBy(proof, party) });
  const machine = await machineTokens(party, owner, proof);
  const agent = await exchangingAgent(party, owner);
  const start = { services: NAMED_SERVICES, subject_token: owner.access };
  const byKey = { bearer: agent.key, tenant: owner.tenantId };
  const session = await must(201, rest.post('/api/v1/agent/sessions', start, byKey));
  const exchanged = await postTokenExchange(party, agent, tokenExchangeForm(owner.access));
  const bearers: Bearers = {
    'sign-in': { text: owner.access },
    impersonation: { text: (await must(201, seen)).body.access_token },
    application: { text: (await authorized(party, { client: spa, account: owner })).access_token },
    'application, DPoP': { text: bound.body.access_token, key: proof },
    'API key': { text: key.body.key },
    'agent key': { text: agent.key },
    'agent token': { text: session.body.data.agent_token },
    'exchanged token': { text: exchanged.body.access_token },
    ...machine,
    RS256: { text: (await authorized(party, { client: ofRsa, account: owner })).id_token },
  };
  return { bearers, agentId: agent.id };
}

async function machineTokens(party: OAuthParty, owner: Owner, key: ProofKey) {
  const machine_scopes = MACHINE_SCOPES;
  const fields = { type: 'm2m', redirect_uris: [], roles: ['admin'], machine_scopes };
  const { client_id, client_secret } = await application(party, owner, fields);
  const form = { grant_type: 'client_credentials', client_id, client_secret };
  const bound = await token(party, form, { dpop: await proofBy(key, party) });
  return {
    machine: { text: (await token(party, form)).body.access_token },
    'machine, DPoP': { text: bound.body.access_token, key },
  };
}

async function headersOf(
  { text, key }: Bearer,
  { method, path, issuer }: { readonly method: string; readonly path: string; issuer: string },
): Promise<{ readonly [name: string]: string }> {
  if (key === undefined) return { authorization: `Bearer ${text}` };
  const claims = { htm: method, htu: issuer + path, ath: hashOf(text) };
  return { authorization: `DPoP ${text}`, dpop: await proofBy(key, { issuer }, claims) };
}

async function must(status: number, answering: Promise<RestAnswer>): Promise<RestAnswer> {
  const answer = await answering;
  if (answer.status === status) return answer;
  throw new Error(`${answer.status} instead of ${status}: ${answer.text.slice(0, 300)}`);
}
