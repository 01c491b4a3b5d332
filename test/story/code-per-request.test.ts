/**
 * How much of our code a warm request enters, from its arrival to its answer: whoever reads the request's path
 * reads that many files and functions. V8 counts which functions were called. A request that enters more says
 * so in this table.
 */
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
import { afterAll, beforeAll, expect, it } from 'vitest';

const START_MS_MAX = 400_000;
const TEST_MS_MAX = 300_000;
/** Requests before any are counted, so that caches and connections are there. */
const WARM_UP = 20;
/** What every one of these plays enters belongs to the request; a timer that fires in one of them does not. */
const PLAYS = 12;
/** Functions that an idle process enters between two looks: what followed from the last request is over. */
const IDLE_FUNCTIONS_MAX = 40;

type Entered = { readonly files: number; readonly functions: number };

/** At most. Issue 29 asks for 70 files and 300 functions of a profile change. */
const EXPECTED: { readonly [request: string]: Entered } = {
  'profile changed': { files: 120, functions: 515 },
  // 49 and 168 while each field of the profile was written out; now they follow from one declaration.
  'profile read': { files: 52, functions: 175 },
  login: { files: 146, functions: 625 },
};

const root = `${pathToFileURL(join(import.meta.dirname, '../..')).href}/`;
const OWN = /^(packages|services)\/[^/]+\/src\//;
/** A request with this header is counted. */
const COUNTED = 'x-counted';
/**
 * Loaded before everything else. V8 writes into a file what was called since the last one: at a signal, and at
 * the beginning and the end of a request that is counted.
 */
const COUNTING = `
  import { subscribe } from 'node:diagnostics_channel';
  import v8 from 'node:v8';
  const take = ({ request }) => request.headers['${COUNTED}'] && v8.takeCoverage();
  process.on('SIGUSR2', () => v8.takeCoverage());
  subscribe('http.server.request.start', take);
  subscribe('http.server.response.finish', take);`;

const folder = mkdtempSync(join(tmpdir(), 'cardea-coverage-'));
const database = testDatabase();
let instance: Instance;
beforeAll(async () => {
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
  rmSync(folder, { recursive: true, force: true });
});

it('a warm request enters no more files and functions than the table says', {
  timeout: TEST_MS_MAX,
}, async () => {
  const entered = new Map<string, Entered>();
  for (const [name, send] of await requests(restDriver({ baseUrl: instance.base }))) {
    for (let sent = 0; sent < WARM_UP; sent += 1) await send();
    const plays: ReadonlySet<string>[] = [];
    while (plays.length < PLAYS) {
      await untilTrue(async () => (await calledNow()).size <= IDLE_FUNCTIONS_MAX);
      await send({ [COUNTED]: 'yes' });
      await taken(); // at its beginning
      plays.push(await taken());
    }
    const [first = new Set<string>(), ...others] = plays;
    const each = [...first].filter((one) => others.every((play) => play.has(one)));
    const files = new Set(each.map((one) => one.slice(0, one.indexOf(' '))));
    entered.set(name, { files: files.size, functions: each.length });
  }
  console.log(Object.fromEntries(entered));
  const above = [...entered].filter(([name, { files, functions }]) => {
    const most = EXPECTED[name];
    return most === undefined || files > most.files || functions > most.functions;
  });
  expect(above).toEqual([]);
  // A figure of nothing would hold any limit.
  expect(entered.get('profile changed')?.functions).toBeGreaterThan(200);
});

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
  // The file may still be in writing.
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
type Request = readonly [name: string, send: (headers?: Headers) => Promise<unknown>];

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
