/**
 * Sends the largest request that each contract allows, as a legitimate caller. It is answered, other requests are
 * answered too, and no stream of the log is parked.
 */
import { testDatabase } from '@cardea/testing';
import type { TSchema } from 'typebox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testCallers } from './callers.ts';
import { catalogueOf, type Entry } from './catalogue.ts';
import { type Fortress, fortress } from './fortress.ts';
import { LARGEST_ASKS } from './largest-asks.ts';
import { largest } from './largest-input.ts';
import { parkedStreams } from './parked-streams.ts';
import { type Ask, send, titleOf } from './sample.ts';

/** A field that does not fit is made smaller until it does. */
const HALVINGS = 7;
const SHRINKS = 4;
const BODY_BYTES_MAX = 256 * 1024;
/** CPU time of one turn of the event loop, in which nobody is answered. The clients of the test use a part of it. */
const BLOCK_CPU_MS = 500;
const LOOK_MS = 5;
/** The minimum number of bytes of the largest requests of all endpoints that succeed. */
const ACCEPTED_BYTES_MIN = 3 * 1024 * 1024;
const TEST_MS_MAX = 5 * 60_000;
/** Not made larger: all callers would have to sign in again with other keys, or another password. */
const SPARED = new Set(['change_password', 'rotate_signing_keys']);

const database = testDatabase();
let world: Fortress;
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url, env: { RATE_LIMIT_FACTOR: '1000' } });
});
afterAll(async () => {
  await world?.stop();
});

/** This field only sets how long the response waits. */
const WAITS = 'wait';

type Fields = { readonly [name: string]: unknown };
/** How often each grown field was halved. */
type Halvings = { readonly [name: string]: number };
type Part = 'body' | 'query';
type Parts = { readonly [part in Part]: Fields };

const propertiesOf = (schema: unknown): { readonly [name: string]: TSchema } =>
  (schema as { properties?: { readonly [name: string]: TSchema } } | undefined)?.properties ?? {};

const bytesOf = (parts: Parts): number => Buffer.byteLength(JSON.stringify(parts));

/** Generated again for each request, because a name can be used only once. */
function partsOf(
  { contract }: Entry['endpoint'],
  grown: { readonly [part in Part]: Halvings },
): Parts | undefined {
  const fieldsOf = (part: Part): Fields =>
    Object.fromEntries(
      Object.entries(grown[part]).map(([name, halvings]) => [
        name,
        largest(propertiesOf(contract[part])[name] as TSchema, SHRINKS ** halvings),
      ]),
    );
  const parts = { query: fieldsOf('query'), body: fieldsOf('body') };
  const values = [...Object.values(parts.query), ...Object.values(parts.body)];
  return values.includes(undefined) ? undefined : parts;
}

/** Enlarges one field after another, to the largest value with which the request still succeeds. */
async function grow(
  { endpoint, sample }: Entry,
  sendOne: (ask: Ask) => Promise<number>,
): Promise<number> {
  const { contract } = endpoint;
  const limit = contract.input?.limitBytes ?? BODY_BYTES_MAX;
  let grown: { readonly [part in Part]: Halvings } = { body: {}, query: {} };
  const growField = async (part: Part, name: string): Promise<typeof grown> => {
    for (let halvings = 0; halvings < HALVINGS; halvings++) {
      const tried = { ...grown, [part]: { ...grown[part], [name]: halvings } };
      const parts = partsOf(endpoint, tried);
      if (parts === undefined || bytesOf(parts) > limit) continue;
      const status = await sendOne(withFields(await sample.ask(world), parts));
      if (status < 400) return tried;
      // Any other status is not about the size of the field.
      if (status !== 400 && status !== 413) return grown;
    }
    return grown;
  };
  for (const part of ['query', 'body'] as const) {
    for (const name of Object.keys(propertiesOf(contract[part]))) {
      if (name === WAITS) continue;
      grown = await growField(part, name);
    }
  }
  return bytesOf(partsOf(endpoint, grown) as Parts);
}

function withFields(ask: Ask, { body, query }: Parts): Ask {
  const texts = Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  );
  return {
    ...ask,
    ...(Object.keys(body).length === 0 ? {} : { body: { ...ask.body, ...body } }),
    query: { ...ask.query, ...texts },
  };
}

/** Counts turns of the event loop that compute for too long. CPU time of other processes does not count. */
function blockWatch() {
  let blocks = 0;
  let before = process.threadCpuUsage();
  const look = () => {
    const now = process.threadCpuUsage();
    const usedMs = (now.user + now.system - before.user - before.system) / 1_000;
    if (usedMs > BLOCK_CPU_MS) blocks += 1;
    before = now;
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    stop: () => {
      look();
      clearInterval(timer);
      return blocks;
    },
  };
}

/** Signs in again the people whose session has ended, or whose token shows a role that was taken. */
async function renewSessions(): Promise<void> {
  for (const person of [world.a.owner, world.a.admin, world.a.member]) {
    const { status } = await world.rest.get('/api/v1/auth/me', { bearer: person.access });
    if (status === 401) Object.assign(person, await world.logIn(person));
  }
}

/** A response that breaks the contract, or that an HTTP client does not accept. */
const unreadable = (error: Error) => ({ status: 599, text: `${error} ${error.cause ?? ''}` });

/** Returns what is wrong with the response to one request, and with that to a neighbour's request at the same time. */
async function faultsAt(
  entry: Entry,
  ask: Ask,
): Promise<{ status: number; text: string; faults: string[] }> {
  const { endpoint, sample } = entry;
  const as = testCallers(world).find(({ name }) => name === sample.by);
  const watch = blockWatch();
  const [answer, neighbour] = await Promise.all([
    send(world, endpoint, ask, { as, tenant: world.a.tenantId }).catch(unreadable),
    world.rest.get('/api/v1/me/delegations', { bearer: world.b.member.access }),
  ]);
  const blocks = watch.stop();
  const faults: string[] = [];
  const what = `${titleOf(endpoint)} ${JSON.stringify(ask).slice(0, 200)}`;
  if (answer.status >= 500) faults.push(`${what}: ${answer.status} ${answer.text}`);
  if (neighbour.status !== 200) faults.push(`${what}: its neighbour ${neighbour.status}`);
  if (blocks > 0) faults.push(`${what}: ${blocks} blocks of the event loop`);
  return { status: answer.status, text: answer.text, faults };
}

it(
  'C6 every endpoint answers its largest input, and its neighbours meanwhile',
  async () => {
    const faults: string[] = [];
    let bytes = 0;
    let isRead = true;
    for (const entry of catalogueOf(world)) {
      const { contract } = entry.endpoint;
      // The authorization server's library answers these. `largest-oauth.test.ts` tests them.
      if (contract.input?.passedOn === true || SPARED.has(contract.name)) continue;
      // Several endpoints end sessions, but none that only reads.
      if (!isRead) await renewSessions();
      isRead = contract.method === 'get';
      const sendOne = async (ask: Ask) => {
        const answered = await faultsAt(entry, ask);
        faults.push(...answered.faults);
        return answered;
      };
      bytes += await grow(entry, async (ask) => (await sendOne(ask)).status);
      const ask = await LARGEST_ASKS[contract.name]?.(world);
      if (ask === undefined) continue;
      const { status, text } = await sendOne(ask);
      if (status >= 400) faults.push(`${contract.name}: ${status} ${text}`);
      bytes += Buffer.byteLength(JSON.stringify(ask));
    }
    expect(faults).toEqual([]);
    expect(bytes).toBeGreaterThan(ACCEPTED_BYTES_MIN);
  },
  TEST_MS_MAX,
);

it('C6 no largest input parks a stream of any follower', async () => {
  const { status } = await world.rest.get('/api/v1/audit/events.csv', {
    // This request waits until the audit log has everything.
    query: { limit: 1 },
    bearer: world.a.owner.access,
    tenant: world.a.tenantId,
  });
  expect(status).toBe(200);
  expect(await parkedStreams(database.url)).toEqual([]);
});
