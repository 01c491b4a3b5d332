/** An agent that starts sessions by either endpoint, and comparisons of the results. */
import type { RecordedEvent } from '@cardea/event-store';
import { expect } from 'vitest';
import { type Account, claimsOf } from './identity-fixture.ts';
import type { OAuthFixture } from './oauth-fixture.ts';

export const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:';
export const ACCESS_TYPE = `${TOKEN_TYPE}access_token`;
export const tokenType = (name: string) => TOKEN_TYPE + name;

export type ServiceGrant = { readonly service_name: string; readonly fields: readonly string[] };
export const grantOf = (service_name: string, ...fields: string[]): ServiceGrant => ({
  service_name,
  fields,
});

/** The services that an agent is granted and requests by default. */
export const NAMED_SERVICES = [grantOf('warehouse', 'username', 'password')];

export type ExchangingAgent = {
  readonly id: string;
  readonly tenantId: string;
  readonly key: string;
  readonly keyId: string;
  /** The ids of the applications that it belongs to, if any. */
  readonly appIds: readonly string[];
};

let count = 0;

export async function exchangingAgent(
  { as }: Pick<OAuthFixture, 'as'>,
  admin: Pick<Account, 'access' | 'tenantId'>,
  of: {
    readonly services?: readonly ServiceGrant[];
    readonly agent?: object;
    readonly key?: object;
  } = {},
): Promise<ExchangingAgent> {
  count += 1;
  const { services = NAMED_SERVICES } = of;
  const rest = as(admin);
  const body = { name: `exchanging agent ${count}`, services, ...of.agent };
  const made = await rest.post('/api/v1/agents', body);
  expect(made, made.text).toMatchObject({ status: 201 });
  const { id } = made.body;
  const key = await rest.post(`/api/v1/agents/${id}/keys`, { name: 'ci', ...of.key });
  expect(key, key.text).toMatchObject({ status: 201 });
  const appIds = [made.body.app_id].filter((appId) => appId !== null);
  return { id, tenantId: admin.tenantId, key: key.body.key, keyId: key.body.id, appIds };
}

export type Form = { readonly [name: string]: string } | readonly (readonly [string, string])[];

export const basicOf = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${encodeURIComponent(secret)}`).toString('base64')}`;

/** Posts a form unchanged to the token endpoint. */
export async function postToken(
  { baseUrl }: Pick<OAuthFixture, 'baseUrl'>,
  form: Form,
  headers: { readonly [name: string]: string } = {},
) {
  const body = new URLSearchParams(form as Record<string, string>);
  const answer = await fetch(`${baseUrl}/oauth2/token`, { method: 'POST', body, headers });
  // biome-ignore lint/suspicious/noExplicitAny: as in the REST driver, tests reach into bodies.
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}

/** The parameters for exchanging a user's access token. An empty scope is left out. */
export const tokenExchangeForm = (subject_token: string, scope = 'service:warehouse') => ({
  grant_type: TOKEN_EXCHANGE_GRANT,
  subject_token,
  subject_token_type: ACCESS_TYPE,
  ...(scope === '' ? {} : { scope }),
});

export const postTokenExchange = (
  at: Pick<OAuthFixture, 'baseUrl'>,
  agent: Pick<ExchangingAgent, 'id' | 'key'>,
  form: Form,
  headers: { readonly [name: string]: string } = {},
) => postToken(at, form, { authorization: basicOf(agent.id, agent.key), ...headers });

export const scopeOf = (services: readonly ServiceGrant[]): string =>
  services.map(({ service_name }) => `service:${service_name}`).join(' ');

/** Claims that differ between two otherwise equal sessions. */
const VOLATILE = ['id', 'cap_jti', 'jti', 'iat', 'nbf', 'exp', 'asid', 'agent_session_id'];
const TIMES = ['created_at', 'expires_at', 'at'];

const steady = (data: object) =>
  Object.fromEntries(
    Object.entries(data).filter(([name]) => ![...VOLATILE, ...TIMES].includes(name)),
  );

/** The claims of a session's two tokens. */
export const tokensSay = (agentToken: string, capability: string) => ({
  agent: steady(claimsOf(agentToken)),
  capability: steady(claimsOf(capability)),
});

/** Events about the requesting agent. Other events of that time are about mail and sign-ins. */
const OF_ASKING = ['ActionDenied', 'AgentSessionStarted', 'ClientAuthFailed'];

/** What other services, including the audit log, learn of it: everything except ids, times and ciphertexts. */
export const eventsSay = (events: readonly RecordedEvent[]) =>
  events
    .filter(({ type }) => OF_ASKING.includes(type))
    .map(({ type, data, metadata: { tenantId, actor, agentId, appId } }) => ({
      type,
      data: steady(data as object),
      ...{ tenantId, actor, agentId, appId },
    }));

/** The login session that a token names, if any. */
export const sidOf = (token: string): readonly string[] => {
  const isJwt = token.startsWith('ey');
  const sid = isJwt ? claimsOf(token).sid : undefined;
  return sid === undefined ? [] : [sid];
};
