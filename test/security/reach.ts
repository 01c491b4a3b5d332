/**
 * Finds what the holder of a credential can reach. Every endpoint is called with each credential obtained so far, as in
 * its sample and with each field that gives power. Values from the responses are used in further calls.
 */
import type { Endpoint } from '@cardea/http';
import { testForm } from '@cardea/testing';
import { rankOf } from '../../services/identity/src/ranks/ranks.ts';
import { catalogueOf, type Entry } from './catalogue.ts';
import type { Fortress } from './fortress.ts';
import type { Victims } from './harm.ts';
import { type Ask, send, titleOf } from './sample.ts';
import { claimsOf } from './users.ts';
import { ATTACKER, OWN_PASSWORD, powersFor } from './worth-trying.ts';

const ROUNDS_MAX = 6;
/** How many ids of one collection are used. More ids of a kind give no more access. */
const OWN_IDS_MAX = testForm.long ? 3 : 1;
/** How many credentials of one kind are used. */
const HELD_MAX = testForm.long ? 3 : 1;

/** The credentials of people, by the rank of their roles. */
export const USER_KINDS = [
  'a member',
  'an administrator',
  'an owner',
  'a system administrator',
] as const;
/** The credentials and powers that no API key may reach. */
const ABOVE_KEYS = [
  ...USER_KINDS.slice(1),
  'somebody else',
  'another key',
  'a machine with rights',
];

type Found = {
  readonly what: string;
  readonly bearer: string;
  readonly headers?: { readonly [name: string]: string };
};
export type Reached = {
  /** `METHOD /path`, by the credential it was called with: `the key`, `a member`, `an administrator`, … */
  readonly calls: ReadonlyMap<string, ReadonlySet<string>>;
  /** The credentials obtained in the end, and `a secret` if a value of the vault was returned. */
  readonly found: ReadonlySet<string>;
};
export type Start = {
  readonly bearer: string;
  /** The name of the credential in the results. */
  readonly what: string;
  /** Kinds that are not searched from, because a separate search shows what they reach. */
  readonly known?: readonly string[];
  /** Kinds and powers that end the search, because it must not reach them. */
  readonly above: readonly string[];
};
type Search = {
  readonly world: Fortress;
  readonly start: Start;
  readonly victims: Victims;
  readonly secret: string;
  readonly found: Map<string, Found>;
  readonly ids: Map<string, string[]>;
  readonly emails: Set<string>;
  readonly answered: Map<string, boolean>;
  /** The samples of endpoints whose id is replaced, so that the sample's own object is not touched. */
  readonly samples: Map<string, Ask>;
  readonly tried: Set<string>;
  readonly calls: Map<string, Set<string>>;
  /** Powers that are no credential: a value of the vault, an application, settings. */
  readonly powers: Set<string>;
};

/** Finds what an API key can reach. `secret` is in the service of `SERVICE_GRANT`. */
export const reachOfKey = (
  world: Fortress,
  key: string,
  of: { readonly victims: Victims; readonly secret: string },
): Promise<Reached> =>
  reachOf(world, { bearer: key, what: 'the key', above: [...ABOVE_KEYS, 'a secret'] }, of);

export async function reachOf(
  world: Fortress,
  start: Start,
  of: { readonly victims: Victims; readonly secret: string },
): Promise<Reached> {
  const search: Search = {
    world,
    start,
    ...of,
    found: new Map([[start.bearer, start]]),
    ids: new Map(),
    emails: new Set(of.victims.users.map(({ email }) => email)),
    answered: new Map(),
    samples: new Map(),
    tried: new Set(),
    calls: new Map(),
    powers: new Set(),
  };
  const entries = catalogueOf(world).filter(({ endpoint }) => endpoint.contract.who !== 'anyone');
  const isDelete = ({ endpoint }: Entry) => endpoint.contract.method === 'delete';
  const [last, first] = [entries.filter(isDelete), entries.filter((entry) => !isDelete(entry))];
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const before = sizeOf(search);
    await tryAll(search, first);
    if (sizeOf(search) === before) break;
  }
  // These calls are last, because otherwise what was created would be deleted before it was used.
  await tryAll(search, last);
  const found = [...search.found.values()].map(({ what }) => what);
  return { calls: search.calls, found: new Set([...found, ...search.powers]) };
}

/** Whether the search has found more than may be reached. It then ends. */
const isFound = ({ found, powers, start: { above } }: Search): boolean =>
  [...[...found.values()].map(({ what }) => what), ...powers].some((what) => above.includes(what));

const sizeOf = ({ found, ids }: Search): number => found.size + [...ids.values()].flat().length;

async function tryAll(search: Search, entries: readonly Entry[]): Promise<void> {
  for (const found of [...search.found.values()]) {
    for (const entry of entries) {
      if (isFound(search)) return;
      if (await isLetIn(search, found, entry)) await tryEntry(search, found, entry);
    }
  }
}

/** The pipeline answers before it reads the body, so one request tells whether more can succeed. */
async function isLetIn(search: Search, found: Found, { endpoint }: Entry): Promise<boolean> {
  const attempt = `${nameOf(found)} ${titleOf(endpoint)}`;
  const known = search.answered.get(attempt);
  if (known !== undefined) return known;
  const names = [...endpoint.contract.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const params = Object.fromEntries(names.map((name) => [name, 'nobody']));
  // The body is no JSON, so the request has no effect.
  const body = endpoint.contract.method === 'get' ? {} : { body: 'nothing' as unknown as object };
  const { status } = await asHolder(search, found, endpoint, { params, ...body });
  const isIn = status !== 401 && status !== 403;
  search.answered.set(attempt, isIn);
  return isIn;
}

async function tryEntry(search: Search, found: Found, entry: Entry): Promise<void> {
  const { endpoint } = entry;
  const title = titleOf(endpoint);
  const { method, path, body } = endpoint.contract;
  for (const id of [undefined, ...idsFor(search, path)]) {
    for (const power of powersFor(search, body)) {
      const attempt = `${nameOf(found)} ${title} ${id} ${JSON.stringify(power)}`;
      // An unchanged sample changes its own resource: it may suspend what the search still needs.
      const isForItsOwn = method === 'patch' && id !== undefined && power === undefined;
      if (search.tried.has(attempt) || isForItsOwn) continue;
      search.tried.add(attempt);
      const ask = attemptOf(await askOf(search, entry, id), id, power);
      const answer = await asHolder(search, found, endpoint, ask);
      if (answer.status >= 300) continue;
      search.calls.set(title, (search.calls.get(title) ?? new Set()).add(found.what));
      await learn(search, found, { entry, ask, body: answer.body, text: answer.text });
    }
  }
}

/** Creates a new object for each attempt, because an attempt that succeeds uses it up. */
async function askOf(search: Search, { endpoint, sample }: Entry, id?: string): Promise<Ask> {
  const title = titleOf(endpoint);
  const known = id === undefined ? undefined : search.samples.get(title);
  if (known !== undefined) return known;
  const ask = await sample.ask(search.world);
  search.samples.set(title, ask);
  return ask;
}

const nameOf = ({ bearer, headers }: Found): string => `${bearer} ${JSON.stringify(headers ?? {})}`;

function asHolder({ world }: Search, { bearer, headers }: Found, endpoint: Endpoint, ask: Ask) {
  const as = { credentials: { bearer, headers: { ...ask.headers, ...headers } } };
  return send(world, endpoint, ask, { as, tenant: world.a.tenantId });
}

/** Removes fields that only another user knows, and adds the fields to set. */
function attemptOf(ask: Ask, id: string | undefined, power: object | undefined): Ask {
  const { subject_token: _, ...body } = (ask.body ?? {}) as { readonly subject_token?: string };
  const [first] = Object.keys(ask.params ?? {});
  const own = id === undefined || first === undefined ? {} : { [first]: id };
  return {
    ...ask,
    ...(ask.params === undefined ? {} : { params: { ...ask.params, ...own } }),
    ...(ask.body === undefined && power === undefined ? {} : { body: { ...body, ...power } }),
  };
}

const collectionOf = (path: string): string => path.split('/{')[0] ?? path;

function idsFor({ ids, victims }: Search, path: string): readonly string[] {
  if (!path.includes('{')) return [];
  const collection = collectionOf(path);
  const own = [...(ids.get(collection) ?? []), ...(victims.ids?.[collection] ?? [])];
  switch (collection) {
    case '/api/v1/admin/users':
      return [...own, ...victims.users.map(({ userId }) => userId)];
    case '/api/v1/agents':
      return [...own, ...victims.agentIds];
    default:
      return own;
  }
}

type Learnt = {
  readonly entry: Entry;
  readonly ask: Ask;
  readonly body: unknown;
  readonly text: string;
};

async function learn(search: Search, by: Found, { entry, ask, body, text }: Learnt): Promise<void> {
  if (text.includes(search.secret)) search.powers.add('a secret');
  const data = ((body as { data?: object } | undefined)?.data ?? body ?? {}) as {
    readonly [field: string]: unknown;
  };
  const { contract } = entry.endpoint;
  // A GET shows an object, and gives the caller none of its powers.
  const power = contract.method === 'get' ? undefined : powerOf(search, data);
  if (power !== undefined) search.powers.add(power);
  if (contract.method === 'post' && typeof data['id'] === 'string') {
    const of = contract.path.replace(/\/\{.*$/, '');
    const own = search.ids.get(of) ?? [];
    if (own.length < OWN_IDS_MAX && contract.path === of) search.ids.set(of, [...own, data['id']]);
  }
  for (const field of ['key', 'access_token', 'agent_token']) {
    const value = data[field];
    if (typeof value === 'string') hold(search, value);
  }
  const machine = await machineToken(search, ask, data);
  if (machine !== undefined) hold(search, machine);
  const capability = data['capability_token'];
  if (typeof capability === 'string') {
    const headers = { 'x-service-token': capability };
    if (![...search.found.values()].some(({ headers: known }) => known !== undefined)) {
      const what = 'an agent with a capability';
      search.found.set(capability, { what, bearer: by.bearer, headers });
    }
  }
  const { email, password, new_password } = (ask.body ?? {}) as { readonly [name: string]: string };
  if (email !== undefined) search.emails.add(email);
  if (password === OWN_PASSWORD || new_password === OWN_PASSWORD) await signIn(search);
}

/** The token of an application whose secret the response shows. Undefined if the application only acts for people. */
async function machineToken(
  { world }: Search,
  { params }: Ask,
  data: { readonly [field: string]: unknown },
): Promise<string | undefined> {
  const { client_secret: secret, client_id: id = params?.['id'] } = data;
  if (typeof secret !== 'string' || typeof id !== 'string') return undefined;
  const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
  const body = new URLSearchParams(form);
  const answer = await fetch(`${world.baseUrl}/oauth2/token`, { method: 'POST', body });
  const { access_token: token } = (await answer.json()) as { readonly access_token?: string };
  return token;
}

/** Powers over people that are no credential. In a tenant that the caller created, nobody ranks above the caller. */
function powerOf(
  { world }: Search,
  data: { readonly [field: string]: unknown },
): string | undefined {
  const { redirect_uris: uris, first_party: isOurs, scopes, settings, id } = data;
  const acts = isOurs === true || (Array.isArray(scopes) && scopes.includes('roles'));
  if (Array.isArray(uris) && acts) return 'an application that acts for people';
  const appUrl = (settings as { readonly app_url?: unknown } | undefined)?.app_url;
  const isTheirs = appUrl === ATTACKER && id === world.a.tenantId;
  return isTheirs ? 'the settings of the tenant' : undefined;
}

/** Signs in as every user whose address is known, with the password that was set. */
async function signIn(search: Search): Promise<void> {
  const { rest, a } = search.world;
  for (const email of search.emails) {
    const body = { email, password: OWN_PASSWORD };
    const { body: entered } = await rest.post('/api/v1/auth/login', body, { tenant: a.tenantId });
    if (typeof entered?.access_token !== 'string') continue;
    search.emails.delete(email);
    hold(search, entered.access_token);
  }
}

/** Keeps one credential of each kind, but all of kinds that nobody should get. */
function hold(search: Search, bearer: string): void {
  const what = kindOf(search, bearer);
  if (search.start.known?.includes(what)) return;
  const known = [...search.found.values()].filter((found) => found.what === what).length;
  if (known < HELD_MAX) search.found.set(bearer, { what, bearer });
}

function kindOf({ victims }: Search, bearer: string): string {
  if (bearer.startsWith('svc_')) return 'another key';
  if (bearer.startsWith('agk_')) return 'an agent key';
  const claims = claimsOf(bearer);
  if (claims['agent_id'] !== undefined) return 'an agent';
  if (claims['client_id'] === claims['sub']) {
    const { roles, scope } = claims as { roles: readonly string[]; scope: string };
    return roles.length > 0 || scope !== '' ? 'a machine with rights' : 'a machine';
  }
  if (victims.users.some(({ userId }) => userId === claims['sub'])) return 'somebody else';
  return USER_KINDS[rankOf(claims['roles'] as readonly string[])] ?? 'nobody';
}
