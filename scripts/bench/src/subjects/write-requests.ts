/** The requests whose cost is measured. Each is one call, which throws if the response is not the expected one. */
import { randomBytes } from 'node:crypto';
import { Pool } from 'undici';

const PASSWORD = 'a password for the bench';
const SERVICE = 'warehouse';
/** An agent may start 120 sessions a minute. */
const AGENTS = 320;
const AGENTS_SMOKE = 4;
/** A session may be refreshed 300 times a minute. */
const SESSIONS = 160;
const SESSIONS_SMOKE = 4;
const ACCOUNTS_MAX = 40;

type Headers = { readonly [name: string]: string };
type Call = { readonly headers: Headers; readonly status: number };
type Body = { readonly [name: string]: unknown };
// biome-ignore lint/suspicious/noExplicitAny: the fields of an answer that is not described here
type Answer = any;
export type AgentSession = { readonly id: string; readonly headers: Headers };

export type VendRequests = {
  agentSession(): Promise<void>;
  /**
   * Vends to an agent session that has no grant yet, and returns that session. There are as many as {@link
   * agentSession} has started.
   */
  freshVend(): Promise<AgentSession>;
  hasFreshSessions(): boolean;
  /** Vends to the same session again. */
  vend(session: AgentSession): Promise<void>;
};
export type WriteRequests = VendRequests & {
  tuple(): Promise<void>;
  refresh(): Promise<void>;
  logIn(caller: number): Promise<void>;
  user(): Promise<void>;
  /** Creates a user in a tenant that has a webhook for new users. */
  toldUser(): Promise<void>;
};

export type RequestsTo = {
  readonly base: string;
  readonly callers: number;
  readonly smoke: boolean;
  /** The webhook's URL. */
  readonly receiver: string;
};

export async function writeRequests(to: RequestsTo) {
  const { send, close } = sender(to);
  const [tenant, told] = [await company(send), await company(send)];
  const webhook = { url: to.receiver, events: ['user.created'] };
  await send('webhooks', webhook, { headers: told, status: 201 });
  return {
    requests: {
      tuple: tupleWriter(send, tenant),
      user: userCreator(send, tenant),
      toldUser: userCreator(send, told),
      ...(await signIns(send, tenant, to)),
      ...(await agents(send, tenant, to)),
    } satisfies WriteRequests,
    close,
  };
}

export async function vendRequests(to: Omit<RequestsTo, 'receiver'>) {
  const { send, close } = sender(to);
  const requests: VendRequests = await agents(send, await company(send), to);
  return { requests, close };
}

type Send = (path: string, body: Body, call: Call) => Promise<Answer>;

function sender({ base, callers }: Pick<RequestsTo, 'base' | 'callers'>) {
  const pool = new Pool(base, { connections: callers });
  const send: Send = async (path, body, { headers, status }) => {
    const answer = await pool.request({
      method: path.endsWith('/secrets') ? 'PUT' : 'POST',
      path: `/api/v1/${path}`,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode === status) return JSON.parse(text);
    throw new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`);
  };
  return { send, close: () => pool.close() };
}

const unique = (): string => randomBytes(8).toString('hex');

/** Signs up a new tenant. Returns the headers of its administrator. */
async function company(send: Send): Promise<Headers> {
  const body = { email: `${unique()}@example.com`, password: PASSWORD, company_name: unique() };
  const { access_token, tenant_id } = await send('auth/signup', body, { headers: {}, status: 201 });
  return { authorization: `Bearer ${access_token}`, 'x-service-tenant': tenant_id };
}

const tupleWriter = (send: Send, headers: Headers) => async () => {
  const tuple = {
    user_type: 'user',
    user_id: 'ann',
    relation: 'viewer',
    object_type: 'document',
    object_id: unique(),
  };
  await send('fga/tuples', tuple, { headers, status: 201 });
};

const userCreator = (send: Send, headers: Headers) => async () => {
  const user = { email: `${unique()}@example.com`, display_name: 'Ann', email_verified: true };
  await send('admin/users', user, { headers, status: 201 });
};

async function signIns(send: Send, admin: Headers, { smoke, callers }: RequestsTo) {
  const headers = { 'x-service-tenant': admin['x-service-tenant'] ?? '' };
  const emails: string[] = [];
  const tokens: string[] = [];
  const count = smoke ? SESSIONS_SMOKE : SESSIONS;
  const logIn = async (at: number): Promise<string> => {
    const body = { email: emails[at % emails.length], password: PASSWORD };
    const { refresh_token } = await send('auth/login', body, { headers, status: 200 });
    return refresh_token;
  };
  for (let at = 0; at < Math.min(count, ACCOUNTS_MAX); at += 1) {
    const account = { email: `${unique()}@example.com`, email_verified: true };
    const body = { ...account, password: PASSWORD };
    await send('admin/users', body, { headers: admin, status: 201 });
    emails.push(account.email);
  }
  for (let at = 0; at < count; at += 1) tokens.push(await logIn(at));
  let turn = 0;
  return {
    logIn: async (caller: number) => void (await logIn(caller + callers * turn++)),
    refresh: async () => {
      const sent = tokens.shift();
      const body = { refresh_token: sent };
      const { refresh_token } = await send('auth/refresh', body, { headers, status: 200 });
      tokens.push(refresh_token);
    },
  };
}

async function agents(send: Send, headers: Headers, { smoke }: Pick<RequestsTo, 'smoke'>) {
  const own: Headers[] = [];
  const fresh: AgentSession[] = [];
  const created = { headers, status: 201 };
  const service = { name: SERVICE, credential_type: 'static', fields: [{ name: 'password' }] };
  await send('vault/services', service, created);
  const secrets = { fields: { password: 'kept' } };
  await send(`vault/services/${SERVICE}/secrets`, secrets, { headers, status: 200 });
  for (let at = 0; at < (smoke ? AGENTS_SMOKE : AGENTS); at += 1) {
    const services = [{ service_name: SERVICE, fields: ['*'] }];
    const agent = await send('agents', { name: `agent ${at}`, services }, created);
    const { key } = await send(`agents/${agent.id}/keys`, { name: 'k' }, created);
    own.push({ ...headers, authorization: `Bearer ${key}` });
  }
  const vend = async (session: AgentSession): Promise<void> => {
    const path = `agent/sessions/${session.id}/credentials`;
    const body = { service_name: SERVICE, fields: ['password'] };
    const { data } = await send(path, body, { headers: session.headers, status: 200 });
    if (data.fields.password !== 'kept') throw new Error('another value was vended');
  };
  let turn = 0;
  return {
    agentSession: async () => {
      const agent = own[turn++ % own.length] as Headers;
      const body = {
        services: [{ service_name: SERVICE, fields: ['password'] }],
        purpose: 'bench',
      };
      const { data } = await send('agent/sessions', body, { headers: agent, status: 201 });
      const capability = { 'x-service-token': data.capability_token };
      fresh.push({ id: data.id, headers: { ...agent, ...capability } });
    },
    hasFreshSessions: () => fresh.length > 0,
    freshVend: async () => {
      const session = fresh.shift() as AgentSession;
      await vend(session);
      return session;
    },
    vend,
  };
}
