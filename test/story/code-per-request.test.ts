/**
 * The number of files and functions of our code that a warm request enters, from its arrival to its response. A reader
 * of the request's path has to read that many. V8 counts which functions were called. A change that enters more has to
 * say so in this table.
 *
 * The request's path is what the answer needs: the request pipeline, the decision, the append, and the projections, for
 * which the answer waits. Projections that do not concern the event are counted, too, because they are woken by the
 * same code. No answer waits for the relay, which publishes the event. It runs in one process of a service, and there
 * at the same time as the end of the request, so V8 would count it. Here the test holds the lease of the relay, as
 * another process of the service would. Then it releases the lease and counts again, with limits of their own.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type Instance,
  type RestAnswer,
  type RestDriver,
  restDriver,
  temporaryInstance,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';

const START_MS_MAX = 400_000;
const TEST_MS_MAX = 300_000;
/** The number of requests before any are counted, so that caches are filled and connections are open. */
const WARM_UP = 20;
/**
 * A function that every one of these plays enters belongs to the request. A timer that fires in one of them does not.
 */
const PLAYS = 12;
/**
 * The most plays. More than `PLAYS` are made while too many functions are counted: on a busy machine, each of the first
 * plays may contain other work.
 */
const PLAYS_MAX = 60;
/**
 * If an idle process enters no more functions than this between two checks, the consequences of the last request are
 * over.
 */
const IDLE_FUNCTIONS_MAX = 40;

type Entered = { readonly files: number; readonly functions: number };

type Limits = { readonly path: Entered; readonly withRelay: Entered };

/** The maximum for each request. */
const EXPECTED: { readonly [request: string]: Limits } = {
  'profile changed': {
    path: { files: 70, functions: 300 },
    withRelay: { files: 84, functions: 359 },
  },
  'profile read': {
    path: { files: 39, functions: 123 },
    withRelay: { files: 39, functions: 123 },
  },
  login: {
    path: { files: 107, functions: 449 },
    withRelay: { files: 117, functions: 493 },
  },
};

const root = `${pathToFileURL(join(import.meta.dirname, '../..')).href}/`;
const OWN = /^(packages|services)\/[^/]+\/src\//;
/** The advisory lock of a lease is the first half of its name's hash (`packages/postgres`, `lockKey`). */
const RELAY_LOCK = String(createHash('sha256').update('relay:identity').digest().readBigInt64BE());
/** The file that a relay enters for each event that it publishes. */
const RELAY_FILE = 'packages/event-bus/src/relay/relay-sink.ts ';
/** A request with this header is counted. */
const COUNTED = 'x-counted';
/**
 * Loaded before everything else. V8 writes the functions that were called since the last file: at a signal, and at the
 * beginning and the end of a request that is counted. It does not count calls of functions that it has inlined, so
 * nothing is optimized here.
 */
const COUNTING = `
  import { subscribe } from 'node:diagnostics_channel';
  import v8 from 'node:v8';
  v8.setFlagsFromString('--no-opt');
  v8.setFlagsFromString('--no-maglev');
  const take = ({ request }) => request.headers['${COUNTED}'] && v8.takeCoverage();
  process.on('SIGUSR2', () => v8.takeCoverage());
  subscribe('http.server.request.start', take);
  subscribe('http.server.response.finish', take);`;

const folder = mkdtempSync(join(tmpdir(), 'cardea-coverage-'));
const database = testDatabase();
let instance: Instance;
let otherProcess: Client;
beforeAll(async () => {
  otherProcess = new Client({ connectionString: database.url });
  await otherProcess.connect();
  await otherProcess.query('SELECT pg_advisory_lock($1::bigint)', [RELAY_LOCK]);
  instance = await temporaryInstance(() => {}, {
    DATABASE_URL: database.url,
    NODE_V8_COVERAGE: folder,
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(COUNTING)}`,
    ARGON2_MEMORY: '8',
    ARGON2_TIME: '1',
  });
}, START_MS_MAX);
afterAll(async () => {
  await instance?.stop();
  await otherProcess?.end();
  rmSync(folder, { recursive: true, force: true });
});

it('a warm request enters no more files and functions than the table says', {
  timeout: TEST_MS_MAX,
}, async () => {
  const all = await requests(restDriver({ baseUrl: instance.base }));
  const path = new Map<string, Entered>();
  for (const [name, send] of all) {
    const called = await calledByEach(send, EXPECTED[name]?.path);
    expect(called.filter((one) => one.startsWith(RELAY_FILE))).toEqual([]);
    path.set(name, sizeOf(called));
  }
  await relaysHere(all);
  const withRelay = new Map<string, Entered>();
  for (const [name, send] of all) {
    withRelay.set(name, sizeOf(await calledByEach(send, EXPECTED[name]?.withRelay)));
  }
  console.log({ path: Object.fromEntries(path), withRelay: Object.fromEntries(withRelay) });
  expect(above(path, 'path')).toEqual([]);
  expect(above(withRelay, 'withRelay')).toEqual([]);
  // If nothing were counted, every limit would be met.
  expect(path.get('profile changed')?.functions).toBeGreaterThan(200);
});

const above = (entered: ReadonlyMap<string, Entered>, what: keyof Limits) =>
  [...entered].filter(([name, size]) => isAbove(size, EXPECTED[name]?.[what]));

const isAbove = ({ files, functions }: Entered, most: Entered | undefined): boolean =>
  most === undefined || files > most.files || functions > most.functions;

/** The functions that each play of a request enters. */
async function calledByEach(send: Send, most: Entered | undefined): Promise<readonly string[]> {
  for (let sent = 0; sent < WARM_UP; sent += 1) await send();
  let called: readonly string[] = [];
  for (let plays = 1; plays <= PLAYS_MAX; plays += 1) {
    if (plays > PLAYS && !isAbove(sizeOf(called), most)) break;
    await untilTrue(async () => (await calledNow()).size <= IDLE_FUNCTIONS_MAX);
    await send({ [COUNTED]: 'yes' });
    await taken(); // The file that was written at the beginning of the request.
    const play = await taken();
    called = plays === 1 ? [...play] : called.filter((one) => play.has(one));
  }
  return called;
}

function sizeOf(called: readonly string[]): Entered {
  const files = new Set(called.map((one) => one.slice(0, one.indexOf(' '))));
  return { files: files.size, functions: called.length };
}

/** Releases the lease of the relay, and waits until the instance publishes. */
async function relaysHere([first]: readonly Request[]): Promise<void> {
  await otherProcess.end();
  await untilTrue(async () => {
    await first?.[1]();
    return [...(await calledNow())].some((one) => one.startsWith(RELAY_FILE));
  });
}

type Coverage = {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
};

function calledNow(): Promise<ReadonlySet<string>> {
  process.kill(instance.pid, 'SIGUSR2');
  return taken();
}

/** The number at the end of a file's name. */
const numberOf = (file: string): number => Number(/(\d+)\.json$/.exec(file)?.[1]);

/** Our functions in the oldest file that was written, as `file name offset`. */
async function taken(): Promise<ReadonlySet<string>> {
  const file = await untilTrue(
    () => readdirSync(folder).toSorted((a, b) => numberOf(a) - numberOf(b))[0],
  );
  const path = join(folder, file);
  // The file may not be complete yet.
  const { result } = await untilTrue(() => JSON.parse(readFileSync(path, 'utf8')) as Coverage);
  rmSync(path);
  const names = new Set<string>();
  for (const { url, functions } of result) {
    const source = url.startsWith(root) ? url.slice(root.length) : '';
    if (!OWN.test(source)) continue;
    for (const { functionName, ranges } of functions) {
      const [whole] = ranges;
      if (whole !== undefined && whole.count > 0) {
        names.add(`${source} ${functionName} ${whole.startOffset}`);
      }
    }
  }
  return names;
}

type Headers = { readonly [name: string]: string };
type Send = (headers?: Headers) => Promise<unknown>;
type Request = readonly [name: string, send: Send];

async function requests(rest: RestDriver): Promise<readonly Request[]> {
  const account = { email: 'ann@example.com', password: 'a password that nobody guesses' };
  const signUp = { ...account, company_name: 'warehouse' };
  const { tenant_id: tenant, access_token: bearer } = await ok(
    rest.post('/api/v1/auth/signup', signUp),
  );
  const own = rest.as({ bearer, tenant });
  const open = rest.as({ tenant });
  let changes = 0;
  return [
    [
      'profile changed',
      (headers = {}) => {
        changes += 1;
        const body = { display_name: `Ann ${changes}` };
        return ok(own.patch('/api/v1/user/profile', body, { headers }));
      },
    ],
    ['profile read', (headers = {}) => ok(own.get('/api/v1/user/profile', { headers }))],
    ['login', (headers = {}) => ok(open.post('/api/v1/auth/login', account, { headers }))],
  ];
}

async function ok(answering: Promise<RestAnswer>) {
  const { status, body } = await answering;
  expect(status).toBeLessThan(300);
  return body;
}
