/**
 * B21: the cost of the pages compared with the endpoints that they show, and of a set of approvers compared with one
 * person.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type RestDriver, restDriver } from '@cardea/testing';
import { Pool } from 'undici';
import { type Bench, type BenchContext, measureCalls, type Row, type Side } from '../harness.ts';
import { httpSide, type LoadRequest } from '../http.ts';
import { growthOf } from '../memory-growth.ts';
import { familyMs } from '../processor-time.ts';
import { gatedVends } from '../subjects/gated-vends.ts';
import { pageCookie } from '../subjects/page-session.ts';
import { type Owner, ok, PASSWORD, signUp } from '../subjects/sign-up.ts';
import { goalIn, type WholeSystem, wholeSystem } from '../whole-system.ts';

/** The number of requests that wait for the person. The page shows as many. */
const WAITING = 50;
const WAITING_SMOKE = 2;
const TTL_SECONDS = 3_600;
const CONNECTIONS = 8;
const CONNECTIONS_SMOKE = 2;
const HOLDERS = 20;
const HOLDERS_SMOKE = 2;
const PAGE_GOAL = { at_most: 2.5 };
const SET_GOAL = { at_most: 1.5 };
/** A person may have 10 polls open. */
const POLLS_EACH = 10;
const PEOPLE = 100;
const PEOPLE_SMOKE = 2;
const POLLS_GOAL = { at_most: 1.2 };
/** Less than the 30 s that a poll waits. */
const WAIT_MS_MAX = 20_000;
const MS_PER_SECOND = 1_000;
const KB = 1_000;

export const benches: readonly Bench[] = [
  {
    id: 'B21 page',
    title: 'pages of approvals, and the endpoints that they show',
    isLong: true,
    run: pages,
  },
  { id: 'B21 polls', title: 'open polls of pages and of the API', isLong: true, run: polls },
  {
    id: 'B21 set',
    title: 'vends that one of a set approves, or one person',
    isLong: true,
    run: sets,
  },
];

async function pages(context: BenchContext): Promise<readonly Row[]> {
  const { base } = await wholeSystem(context);
  const rest = restDriver({ baseUrl: base });
  const owner = await signUp(rest, 'pages');
  const [first = ''] = await waiting(owner, context.smoke ? WAITING_SMOKE : WAITING);
  const cookie = await pageCookie(base, owner);
  const decision = `/approve/${first}`;
  const byPage = { cookie, accept: 'text/html' };
  const byToken = { authorization: `Bearer ${owner.token}`, 'x-service-tenant': owner.tenant };
  const shown = [
    { id: 'B21 decision', page: decision, endpoint: `/api/v1/ciba/requests/${first}` },
    { id: 'B21 list', page: '/approve', endpoint: '/api/v1/ciba/pending' },
  ];
  const side = (path: string, headers: LoadRequest['headers'] & object, contains: string) =>
    httpSide(context, `GET ${path.replace(first, '{id}')}`, {
      origin: base,
      connections: context.smoke ? CONNECTIONS_SMOKE : CONNECTIONS,
      requests: [{ method: 'GET', path, headers, status: 200, contains }],
    });
  const rows: Row[] = [];
  for (const { id, page, endpoint } of shown) {
    const row = await context.compare({
      id,
      subject: await side(page, byPage, first),
      floor: await side(endpoint, byToken, first),
      figure: 'p50_ms',
      ...goalIn(context, PAGE_GOAL),
    });
    const size = `the page has ${(await sizeOf(base + page, byPage)).toFixed(1)} KB`;
    console.log(`    ${size}`);
    rows.push({ ...row, marks: [...row.marks, size] });
  }
  return rows;
}

/** Returns the size of a page with its script and style. */
async function sizeOf(url: string, headers: { readonly [name: string]: string }): Promise<number> {
  const answer = await fetch(url, { headers });
  return (await answer.arrayBuffer()).byteLength / KB;
}

/** Creates requests of an administrator to themselves. Returns the ids of the requests. */
async function waiting(owner: Owner, count: number): Promise<readonly string[]> {
  const { user } = ok(await owner.rest.get('/api/v1/auth/me'));
  const ask = await asking(owner);
  const ids: string[] = [];
  while (ids.length < count) ids.push(await ask(user.id));
  return ids;
}

/**
 * Returns a function that sends a user a request in the name of an agent. That function returns the id of the request.
 */
async function asking({ rest: as }: Owner): Promise<(userId: string) => Promise<string>> {
  const agent = ok(await as.post('/api/v1/agents', { name: 'deployer' }));
  let turn = 0;
  return async (user_id) => {
    const resource = `release-${turn++}`;
    const ttl_seconds = TTL_SECONDS;
    const of = { agent_id: agent.id, user_id, action: 'deploy', resource, ttl_seconds };
    return ok(await as.post('/api/v1/ciba/requests', of)).id;
  };
}

type Poll = Pick<LoadRequest, 'path'> & { readonly headers: { readonly [name: string]: string } };

async function polls(context: BenchContext): Promise<readonly Row[]> {
  const system = await wholeSystem(context);
  const rest = restDriver({ baseUrl: system.base });
  const owner = await signUp(rest, 'polls');
  const ask = await asking(owner);
  const [byPage, byToken]: [Poll[], Poll[]] = [[], []];
  while (byPage.length < (context.smoke ? PEOPLE_SMOKE : PEOPLE)) {
    const person = await personOf(rest, owner, byPage.length);
    const id = await ask(person.id);
    const cookie = await pageCookie(system.base, person);
    byPage.push({ path: `/approve/${id}?part=state`, headers: { cookie } });
    const { token, tenant } = person;
    const headers = { authorization: `Bearer ${token}`, 'x-service-tenant': tenant };
    byToken.push({ path: `/api/v1/ciba/requests/${id}/poll`, headers });
  }
  const each = (of: readonly Poll[]) => Array.from({ length: POLLS_EACH }, () => of).flat();
  const row = await context.compare({
    id: 'B21 polls',
    subject: openPolls(context, system, each(byPage)),
    floor: openPolls(context, system, each(byToken)),
    figure: 'cpu_ms',
    ...goalIn(context, POLLS_GOAL),
  });
  return [row];
}

/** Measures what the servers spend on a poll that is opened, waits, and is abandoned. */
function openPolls(
  { onEnd }: BenchContext,
  { base, serverPids }: WholeSystem,
  open: readonly Poll[],
): Side {
  const pool = new Pool(base, { connections: open.length });
  onEnd(() => pool.destroy());
  const spentMs = () => serverPids.reduce((sum, pid) => sum + familyMs(pid), 0);
  return {
    name: `${open.length} open polls: GET ${open[0]?.path.replace(/[0-9a-f-]{36}/, '{id}')}`,
    measure: async (seconds) => {
      const growths = serverPids.map(growthOf);
      const before = spentMs();
      const leaving = new AbortController();
      let errors = 0;
      const answers = open.map(async ({ path, headers }) => {
        const ended = await pool
          .request({ method: 'GET', path, headers, signal: leaving.signal })
          .catch(() => undefined);
        // Each poll waits for longer than the measurement, so one that has ended is an error.
        if (ended !== undefined) errors += 1;
        await ended?.body.dump();
      });
      await pause(Math.min(seconds * MS_PER_SECOND, WAIT_MS_MAX));
      leaving.abort();
      await Promise.all(answers);
      for (const growth of growths) growth.stop();
      const rss_mb = growths.reduce((sum, growth) => sum + growth.most(), 0);
      const cpu_ms = (spentMs() - before) / open.length;
      return {
        per_second: Number.NaN,
        p50_ms: Number.NaN,
        p99_ms: Number.NaN,
        cpu_ms,
        rss_mb,
        errors,
      };
    },
  };
}

/** Creates a member and signs them in. */
async function personOf(rest: RestDriver, { rest: admin, tenant }: Owner, at: number) {
  const login = { email: `person-${at}@example.com`, password: PASSWORD };
  const { id } = ok(await admin.post('/api/v1/admin/users', { ...login, email_verified: true }));
  const { access_token: token } = ok(await rest.post('/api/v1/auth/login', login, { tenant }));
  return { id: id as string, token: token as string, tenant, ...login, rest };
}

async function sets(context: BenchContext): Promise<readonly Row[]> {
  const { base } = await wholeSystem(context);
  const rest: RestDriver = restDriver({ baseUrl: base });
  const callers = context.smoke ? CONNECTIONS_SMOKE : CONNECTIONS;
  const holders = context.smoke ? HOLDERS_SMOKE : HOLDERS;
  const vends = await gatedVends(rest, { holders });
  const side = (name: string, vend: () => Promise<void>): Side => ({
    name,
    measure: async (seconds) => {
      await vends.prepare(seconds);
      return measureCalls(callers, seconds, vend, vends.isExhausted);
    },
  });
  return [
    await context.compare({
      id: 'B21 set',
      subject: side(`vend that one of ${holders} approves`, vends.toSet),
      floor: side('vend that a person approves', vends.toPerson),
      figure: 'p50_ms',
      ...goalIn(context, SET_GOAL),
    }),
  ];
}
