/**
 * What the holder of a credential can reach: every endpoint is called with each credential obtained so far,
 * as in its sample and with each field that gives power; what an answer yields is used from then on.
 */
import type { Endpoint } from '@cardea/http';
import type { TSchema } from 'typebox';
import { SERVICE_GRANT } from './agents-and-keys.ts';
import { catalogueOf, type Entry } from './catalogue.ts';
import type { Fortress } from './fortress.ts';
import { type Ask, send, titleOf } from './sample.ts';
import { claimsOf, PASSWORD, type Person } from './users.ts';

export const OWN_PASSWORD = 'known to whoever searches';
const ROUNDS_MAX = 6;
/** Of one collection; more of a kind give no more access. */
const OWN_IDS_MAX = 3;

const TOO_MUCH = ['an administrator', 'somebody else', 'another key'];

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
export type Victims = { readonly users: readonly Person[]; readonly agentIds: readonly string[] };
type Search = {
  readonly world: Fortress;
  readonly victims: Victims;
  readonly secret: string;
  readonly found: Map<string, Found>;
  readonly ids: Map<string, string[]>;
  readonly emails: Set<string>;
  readonly answered: Map<string, boolean>;
  readonly tried: Set<string>;
  readonly calls: Map<string, Set<string>>;
  secretSeen: boolean;
};

/** `secret` is in the service that {@link SERVICE_GRANT} names. */
export async function reachOf(
  world: Fortress,
  key: string,
  of: { readonly victims: Victims; readonly secret: string },
): Promise<Reached> {
  const search: Search = {
    world,
    ...of,
    found: new Map([[key, { what: 'the key', bearer: key }]]),
    ids: new Map(),
    emails: new Set(of.victims.users.map(({ email }) => email)),
    answered: new Map(),
    tried: new Set(),
    calls: new Map(),
    secretSeen: false,
  };
  const entries = catalogueOf(world).filter(({ endpoint }) => endpoint.contract.who !== 'anyone');
  const isDelete = ({ endpoint }: Entry) => endpoint.contract.method === 'delete';
  const [last, first] = [entries.filter(isDelete), entries.filter((entry) => !isDelete(entry))];
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const before = sizeOf(search);
    await tryAll(search, first);
    if (sizeOf(search) === before) break;
  }
  // Last, because otherwise what was created would be deleted before it was used.
  await tryAll(search, last);
  const found = new Set([...search.found.values()].map(({ what }) => what));
  return { calls: search.calls, found: search.secretSeen ? found.add('a secret') : found };
}

/** More than any one scope may give; a caller who has it needs no further search. */
const isFound = ({ found, secretSeen }: Search): boolean =>
  secretSeen || [...found.values()].some(({ what }) => TOO_MUCH.includes(what));

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
  // No JSON, so that it has no effect.
  const body = endpoint.contract.method === 'get' ? {} : { body: 'nothing' as unknown as object };
  const { status } = await asHolder(search, found, endpoint, { params, ...body });
  const isIn = status !== 401 && status !== 403;
  search.answered.set(attempt, isIn);
  return isIn;
}

async function tryEntry(search: Search, found: Found, entry: Entry): Promise<void> {
  const { endpoint, sample } = entry;
  const title = titleOf(endpoint);
  const { method, path, body } = endpoint.contract;
  for (const id of [undefined, ...idsFor(search, path)]) {
    for (const power of powersFor(search, body)) {
      const attempt = `${nameOf(found)} ${title} ${id} ${JSON.stringify(power)}`;
      // An unchanged sample changes its own resource: it may suspend what the search still needs.
      const isForItsOwn = method === 'patch' && id !== undefined && power === undefined;
      if (search.tried.has(attempt) || isForItsOwn) continue;
      search.tried.add(attempt);
      const ask = attemptOf(await sample.ask(search.world), id, power);
      const answer = await asHolder(search, found, endpoint, ask);
      if (answer.status >= 300) continue;
      search.calls.set(title, (search.calls.get(title) ?? new Set()).add(found.what));
      await learn(search, found, { entry, ask, body: answer.body, text: answer.text });
    }
  }
}

const nameOf = ({ bearer, headers }: Found): string => `${bearer} ${JSON.stringify(headers ?? {})}`;

function asHolder({ world }: Search, { bearer, headers }: Found, endpoint: Endpoint, ask: Ask) {
  const as = { credentials: { bearer, headers: { ...ask.headers, ...headers } } };
  return send(world, endpoint, ask, { as, tenant: world.a.tenantId });
}

/** Without what only another user knows, and with the fields to set. */
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
  const own = ids.get(collectionOf(path)) ?? [];
  switch (collectionOf(path)) {
    case '/api/v1/admin/users':
      return [...own, ...victims.users.map(({ userId }) => userId)];
    case '/api/v1/agents':
      return [...own, ...victims.agentIds];
    default:
      return own;
  }
}

/**
 * Each field of the body that gives power, with every value worth trying, and all at once; the unchanged
 * sample first.
 */
function powersFor(
  { world, victims, ids }: Search,
  body: TSchema | undefined,
): readonly (object | undefined)[] {
  const users = victims.users.map(({ userId }) => userId);
  const worth: { readonly [field: string]: readonly unknown[] } = {
    roles: [['admin'], ['member', 'owner'], ['system_admin', 'owner', 'admin']],
    scopes: [['users:write', 'agents:write', 'vault:grant', 'vault:write']],
    services: [[SERVICE_GRANT]],
    owner_user_id: users,
    user_id: users,
    agent_id: ids.get('/api/v1/agents') ?? [],
    vouched: [true],
    status: ['active'],
    password: [OWN_PASSWORD],
    new_password: [OWN_PASSWORD],
    email: [`taken.over@${world.a.tenantId}.example.com`],
    enabled: [false],
  };
  const fields = Object.keys((body as { properties?: object } | undefined)?.properties ?? {});
  const wanted = fields.filter((field) => (worth[field] ?? []).length > 0);
  const alone = wanted.flatMap((field) =>
    (worth[field] ?? []).map((value): object => ({ [field]: value })),
  );
  // Most of them are created with an address of their own.
  const together = wanted.filter((field) => field !== 'email');
  const most = Math.max(0, ...together.map((field) => worth[field]?.length ?? 0));
  const all = Array.from({ length: together.length > 1 ? most : 0 }, (_, n): object =>
    Object.fromEntries(together.map((field) => [field, worth[field]?.[n] ?? worth[field]?.at(-1)])),
  );
  return [undefined, ...alone, ...all];
}

type Learnt = {
  readonly entry: Entry;
  readonly ask: Ask;
  readonly body: unknown;
  readonly text: string;
};

async function learn(search: Search, by: Found, { entry, ask, body, text }: Learnt): Promise<void> {
  if (text.includes(search.secret)) search.secretSeen = true;
  const data = ((body as { data?: object } | undefined)?.data ?? body ?? {}) as {
    readonly [field: string]: unknown;
  };
  const { contract } = entry.endpoint;
  if (contract.method === 'post' && typeof data['id'] === 'string') {
    const of = contract.path.replace(/\/\{.*$/, '');
    const own = search.ids.get(of) ?? [];
    if (own.length < OWN_IDS_MAX && contract.path === of) search.ids.set(of, [...own, data['id']]);
  }
  for (const field of ['key', 'access_token', 'agent_token']) {
    const value = data[field];
    if (typeof value === 'string') hold(search, value);
  }
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

/** As every user whose address is known, with the password that was set. */
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

/** One of a kind is enough, except of kinds that nobody should get. */
function hold(search: Search, bearer: string): void {
  const what = kindOf(search, bearer);
  const known = [...search.found.values()].filter((found) => found.what === what).length;
  if (known < OWN_IDS_MAX) search.found.set(bearer, { what, bearer });
}

function kindOf({ victims }: Search, bearer: string): string {
  if (bearer.startsWith('svc_')) return 'another key';
  if (bearer.startsWith('agk_')) return 'an agent key';
  const claims = claimsOf(bearer);
  if (claims['agent_id'] !== undefined) return 'an agent';
  if (victims.users.some(({ userId }) => userId === claims['sub'])) return 'somebody else';
  const roles = claims['roles'] as readonly string[];
  return roles.every((role) => role === 'member') ? 'a member' : 'an administrator';
}

/** What must not have happened to users who existed before. */
export async function harmTo(
  { rest, a, logIn }: Fortress,
  { users }: Victims,
): Promise<readonly string[]> {
  const admin = rest.as({ bearer: a.owner.access, tenant: a.tenantId });
  const harm: string[] = [];
  for (const person of users) {
    const { status, body } = await admin.get(`/api/v1/admin/users/${person.userId}`);
    const isMember = person.roles.every((role) => role === 'member');
    if (status !== 200 || body.status !== 'active') {
      if (!isMember) harm.push('closed or deleted an administrator');
      continue;
    }
    if (body.roles.join() !== person.roles.join()) harm.push('changed roles');
    if (body.email !== person.email) harm.push('changed an address');
    if (body.vouched !== true) harm.push('took back a vouch');
    await logIn(person).catch(() => harm.push(`changed a password that was ${PASSWORD}`));
  }
  return harm;
}
