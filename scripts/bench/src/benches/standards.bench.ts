/**
 * B20: the cost of standards for clients, machines and users: checks by a machine and with a proof of its key,
 * id_tokens by RS256, the export of a tenant's users, and logout notices to slow receivers.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { restDriver } from '@cardea/testing';
import { Pool } from 'undici';
import { type Bench, type BenchContext, type Row, type Side, workerSide } from '../harness.ts';
import { httpSide } from '../http.ts';
import { growthOf } from '../memory-growth.ts';
import { started } from '../started.ts';
import { logoutReceivers } from '../subjects/logout-receivers.ts';
import { application, type Owner, ok, PASSWORD, signUp } from '../subjects/sign-up.ts';
import { signedInBrowser } from '../subjects/signed-in-browser.ts';
import type { ApplicationRefreshes } from '../workers/application-refreshes.worker.ts';
import type { DpopChecks } from '../workers/dpop-checks.worker.ts';
import type { StandardsServer } from '../workers/standards.worker.ts';
import type { UserExport } from '../workers/user-export.worker.ts';

const worker = (name: string) => new URL(`../workers/${name}.worker.ts`, import.meta.url);
const CHECK = '/api/v1/fga/check';
const REDIRECT = 'http://127.0.0.1:9/callback';
const FIRST_PARTY = { type: 'spa', redirect_uris: [REDIRECT], first_party: true };
const CONNECTIONS = 32;
const CONNECTIONS_SMOKE = 4;

export const benches: readonly Bench[] = [
  {
    id: 'B20 machine',
    title: 'checks by a machine and by a user',
    isLong: true,
    run: machineChecks,
  },
  {
    id: 'B20 RS256',
    title: 'refreshes of applications with an id_token',
    isLong: true,
    run: refreshes,
  },
  { id: 'B20 DPoP', title: 'checks with a proof of the key', isLong: true, run: provenChecks },
  {
    id: 'B20 export',
    title: 'export of the people of a tenant',
    isLong: true,
    run: exportOfPeople,
  },
  {
    id: 'B20 logout',
    title: 'sign-ins while logout notices wait for receivers',
    isLong: true,
    run: logouts,
  },
];

const server = (context: BenchContext): Promise<StandardsServer> =>
  context.shared('standards', async (within) => {
    const size = within.smoke ? 'smoke' : 'whole';
    return started<StandardsServer>(within, worker('standards'), await within.database(), size);
  });

const rest = ({ origin }: StandardsServer) => restDriver({ baseUrl: origin });
const connectionsOf = ({ smoke }: BenchContext) => (smoke ? CONNECTIONS_SMOKE : CONNECTIONS);

/** A file for a worker, because it contains tokens and passwords. */
function fileOf(context: BenchContext, content: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-standards-'));
  context.onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'given.json');
  writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
  return path;
}

const ownerOfTuples = (of: StandardsServer): Pick<Owner, 'rest'> => ({
  rest: rest(of).as({ bearer: of.token, tenant: of.tenant }),
});

const machineIn = (of: StandardsServer) =>
  application(ownerOfTuples(of), { name: 'CI', type: 'm2m' });

async function tokenOfMachine(of: StandardsServer): Promise<string> {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(await keyOf(of)) });
  const answer = await fetch(`${of.origin}/oauth2/token`, { method: 'POST', body: form });
  const body = (await answer.json()) as { readonly access_token: string };
  if (answer.status !== 200) throw new Error(`the token endpoint answered ${answer.status}`);
  return body.access_token;
}

async function keyOf(of: StandardsServer) {
  const { client_id, client_secret } = await machineIn(of);
  return { client_id, client_secret };
}

const checksBy = (context: BenchContext, name: string, of: StandardsServer, bearer: string) =>
  httpSide(context, name, {
    origin: of.origin,
    connections: connectionsOf(context),
    requests: of.questions.map((body) => ({
      method: 'POST',
      path: CHECK,
      headers: { authorization: `Bearer ${bearer}`, 'x-service-tenant': of.tenant },
      body,
      status: 200,
      contains: '"allowed":',
    })),
  });

async function machineChecks(context: BenchContext): Promise<readonly Row[]> {
  const of = await server(context);
  const subject = await checksBy(context, 'check by a machine', of, await tokenOfMachine(of));
  const floor = await checksBy(context, 'check by a user', of, of.token);
  return [await context.compare({ id: 'B20 machine', subject, floor, goal: { at_least: 0.95 } })];
}

async function provenChecks(context: BenchContext): Promise<readonly Row[]> {
  const of = await server(context);
  const { origin, issuer, tenant, questions } = of;
  const connections = connectionsOf(context);
  const client = await keyOf(of);
  const given: DpopChecks = { origin, issuer, tenant, questions, connections, client };
  const path = fileOf(context, given);
  const subject = await workerSide(context, 'check with DPoP', worker('dpop-checks'), [path]);
  const floor = await checksBy(context, 'check as Bearer', of, await tokenOfMachine(of));
  return [await context.compare({ id: 'B20 DPoP', subject, floor, goal: { at_least: 0.35 } })];
}

/**
 * An application may get 600 tokens a minute and a session 300. With this many applications, the rate stays below both
 * limits.
 */
const APPLICATIONS = 48;
const SESSIONS_EACH = 2;
const CALLERS = 16;
const REFRESHES_SMOKE = 4;

async function refreshes(context: BenchContext): Promise<readonly Row[]> {
  const of = await server(context);
  const owner = await signUp(rest(of), 'refreshes');
  const subject = await refreshesBy(context, 'RS256', of, owner);
  const floor = await refreshesBy(context, 'EdDSA', of, owner);
  return [await context.compare({ id: 'B20 RS256', subject, floor, goal: { at_least: 0.75 } })];
}

async function refreshesBy(
  context: BenchContext,
  alg: 'RS256' | 'EdDSA',
  { origin, issuer }: StandardsServer,
  owner: Owner,
): Promise<Side> {
  const made: string[] = [];
  const count = context.smoke ? REFRESHES_SMOKE : APPLICATIONS;
  while (made.length < count) {
    const fields = { ...FIRST_PARTY, id_token_signed_response_alg: alg };
    made.push((await application(owner, fields)).client_id);
  }
  const given: ApplicationRefreshes = {
    origin,
    issuer,
    alg,
    redirectUri: REDIRECT,
    email: owner.email,
    password: PASSWORD,
    callers: context.smoke ? REFRESHES_SMOKE : CALLERS,
    clientIds: Array.from({ length: SESSIONS_EACH }, () => made).flat(),
  };
  const path = fileOf(context, given);
  const name = `refresh with an id_token by ${alg}`;
  return workerSide(context, name, worker('application-refreshes'), [path]);
}

/** `BENCH_PEOPLE` sets another number. */
const PEOPLE = 10_000;
const PEOPLE_SMOKE = 200;
const IMPORT_PAGE = 100;

async function exportOfPeople(context: BenchContext): Promise<readonly Row[]> {
  const of = await server(context);
  const owner = await signUp(rest(of), 'export');
  const people = context.smoke ? PEOPLE_SMOKE : Number(process.env['BENCH_PEOPLE'] ?? PEOPLE);
  await importPeople(owner, people);
  const { origin, database } = of;
  const { tenant, token } = owner;
  // The export also contains the owner.
  const given: UserExport = { origin, database, tenant, token, people: people + 1 };
  const path = fileOf(context, given);
  const side = (name: string, how: string) =>
    workerSide(context, name, worker('user-export'), [path, how]);
  const growths: number[] = [];
  const exporting = await side(`export of ${people} people`, 'export');
  const subject: Side = {
    name: exporting.name,
    measure: async (seconds) => {
      const growth = growthOf(of.pid);
      const measured = await exporting.measure(seconds).finally(growth.stop);
      growths.push(growth.most());
      return measured;
    },
  };
  const row = await context.compare({
    id: 'B20 export',
    subject,
    floor: await side('COPY of the same rows', 'copy'),
    figure: 'p50_ms',
    goal: { at_most: 3 },
  });
  const memory = `memory + ${growths.map((each) => each.toFixed(0)).join(', ')} MB`;
  console.log(`  the server during each measurement, the warm-up first: ${memory}`);
  return [{ ...row, marks: [...row.marks, memory] }];
}

async function importPeople({ rest: as }: Owner, people: number): Promise<void> {
  for (let first = 0; first < people; first += IMPORT_PAGE) {
    const users = Array.from({ length: Math.min(IMPORT_PAGE, people - first) }, (_, offset) => ({
      email: `person-${first + offset}@example.com`,
      display_name: `Person ${first + offset}`,
      email_verified: true,
    }));
    const { failed } = ok(await as.post('/api/v1/admin/users/import', { users }));
    if (failed.length > 0) throw new Error(`${failed.length} of a page were not imported`);
  }
}

const RECEIVERS = 200;
const RECEIVERS_SMOKE = 4;
const SIGN_INS = 8;
const ACCOUNTS = 64;

async function logouts(context: BenchContext): Promise<readonly Row[]> {
  const of = await server(context);
  const receivers = await logoutReceivers(context);
  const owner = await signUp(rest(of), 'logout');
  const clientIds: string[] = [];
  while (clientIds.length < (context.smoke ? RECEIVERS_SMOKE : RECEIVERS)) {
    const fields = { ...FIRST_PARTY, backchannel_logout_uri: receivers.uri };
    clientIds.push((await application(owner, fields)).client_id);
  }
  const pool = new Pool(of.origin, { connections: SIGN_INS });
  context.onEnd(() => pool.close());
  const person = { issuer: of.issuer, redirectUri: REDIRECT, ...owner };
  const signIns = await signInsOf(context, of);
  const subject: Side = {
    name: `sign-ins while ${clientIds.length} receivers take 4 s each`,
    measure: async (seconds) => {
      const browser = await signedInBrowser(pool, person, clientIds[0] ?? '');
      for (const clientId of clientIds) await browser.tokensOf(clientId);
      receivers.slow();
      const [measured] = await Promise.all([
        signIns.measure(seconds),
        owner.rest.delete('/api/v1/me/sessions').then(ok),
      ]);
      const came = receivers.came();
      const missing = await receivers.drain(clientIds);
      console.log(`  ${came} notices came during the measurement, ${missing.length} never`);
      return { ...measured, errors: measured.errors + missing.length };
    },
  };
  const floor: Side = { ...signIns, name: 'sign-ins in calm' };
  const compared = { subject, floor, figure: 'p99_ms', goal: { at_most: 2 } } as const;
  return [await context.compare({ id: 'B20 logout', ...compared })];
}

/** Signs in accounts in turn, in another tenant than that of the receivers. */
async function signInsOf(context: BenchContext, of: StandardsServer): Promise<Side> {
  const { tenant, rest: as } = await signUp(rest(of), 'sign-ins');
  const accounts = Array.from({ length: context.smoke ? SIGN_INS : ACCOUNTS }, (_, at) => ({
    tenant,
    email: `user-${at}@example.com`,
    password: PASSWORD,
  }));
  for (const { email, password } of accounts) {
    const body = { email, password, display_name: email };
    ok(await as.post('/api/v1/auth/register', body));
  }
  const path = fileOf(context, accounts);
  const args = [of.origin, path, String(SIGN_INS), 'login', 'in turn'];
  return workerSide(context, 'sign-ins', worker('session-clients'), args);
}
