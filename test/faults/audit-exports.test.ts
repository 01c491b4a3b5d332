/**
 * Exports of the audit log whose clients disconnect or stop reading; all other clients are served as usual.
 */
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import {
  processFixture,
  type RestDriver,
  testDatabase,
  testForm,
  untilTrue,
} from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { type Company, company } from '../cluster-fixture.ts';
import { ADMIN, type Instance, instance } from './instance.ts';

/** Together they use more than the connections for requests. */
const TENANTS = testForm.long ? 13 : 6;
const STALLED_EACH = 2;
const ABORTED = testForm.long ? 25 : 12;
const POOL_SIZE = testForm.long ? 20 : 10;
const ROWS = 10_000;
/** Far more than the two ends of a socket buffer. */
const LONG_CHARS = 1000;
/**
 * Size of the stalled exports if they were read completely; a process that buffers pages uses a small part
 * of it.
 */
const STALLED_KB = (TENANTS * STALLED_EACH * ROWS * 2 * LONG_CHARS) / 1024;
const RSS_GROWTH_KB_MAX = STALLED_KB / (testForm.long ? 4 : 2);
const ANSWER_MS_MAX = 5_000;
const TEST_MS_MAX = 600_000;
/** The pause of the other client between its rounds. */
const PAUSE_MS = 20;
const PATH = '/api/v1/audit/events.csv';

const database = testDatabase();
const fixture = processFixture();
const open: IncomingMessage[] = [];
afterAll(() => {
  for (const each of open) each.destroy();
});

/** Begins an export, and resolves with its first bytes. Nothing more is read. */
const beginExport = (base: string, { tenant, bearer }: Company): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${bearer}`, 'x-service-tenant': tenant };
    const asked = request(new URL(PATH, base), { headers }, (answer) => {
      open.push(answer);
      answer.on('error', () => {});
      answer.once('readable', () => resolve(answer));
    });
    asked.on('error', reject);
    asked.end();
  });

/** Begins an export. A tenant may have two at once, and those that were just interrupted may not have ended yet. */
const begun = (base: string, of: Company): Promise<IncomingMessage> =>
  untilTrue(
    async () => {
      const answer = await beginExport(base, of);
      return answer.statusCode === 200 ? answer : undefined;
    },
    { what: 'an export begins' },
  );

async function addRows(tenant: string): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(`SELECT audit.make_partition('2026-01-01'::date)`);
    await client.query(
      `INSERT INTO audit.events (tenant_id, ts, id, type, category, action, result, actor_type,
         actor_id, target_type, target_id, source_user_agent, details)
       SELECT $1, timestamptz '2026-01-01Z' + n * interval '1 ms', gen_random_uuid(), 'login.success',
         'auth', 'login', 'success', 'user', repeat('u', $3), 'session', repeat('s', $3), 'curl', '{}'
       FROM generate_series(1, $2::int) AS n`,
      [tenant, ROWS, LONG_CHARS],
    );
  } finally {
    await client.end();
  }
}

const rssKb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN);

/**
 * The work of another client: it signs in, checks a tuple, and reads a page of the log. Returns a sentence for each
 * failure.
 */
function bystander(cardea: Instance, rest: RestDriver, tenant: string) {
  const failures: string[] = [];
  let rounds = 0;
  let running = true;
  const tuple = { user_type: 'user', user_id: 'ann', relation: 'viewer' };
  const check = { ...tuple, object_type: 'document', object_id: 'plan' };
  const asks = {
    login: () => cardea.rest.post('/api/v1/auth/login', ADMIN, { tenant, signal: patience() }),
    check: () => rest.post('/api/v1/fga/check', check, { signal: patience() }),
    audit: () => rest.get('/api/v1/audit/events', { query: { limit: 5 }, signal: patience() }),
  };
  const turning = (async () => {
    while (running) {
      for (const [name, ask] of Object.entries(asks)) {
        const told = await ask().then(
          ({ status, text }) => (status === 200 ? undefined : `${name} ${status} ${text}`),
          (error: Error) => `${name} ${error.message}`,
        );
        if (told !== undefined) failures.push(told);
      }
      rounds += 1;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return {
    failures,
    rounds: () => rounds,
    stop: async () => {
      running = false;
      await turning;
    },
  };
}
const patience = (): AbortSignal => AbortSignal.timeout(ANSWER_MS_MAX);

it('audit 5 exports that are broken off or stand still take nothing from other tenants', {
  timeout: TEST_MS_MAX,
}, async () => {
  const cardea = await instance(fixture, {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: String(POOL_SIZE),
  });
  const running = await cardea.start();
  const admin = await cardea.admin();
  const companies: Company[] = [];
  for (let n = 0; n < TENANTS; n += 1) companies.push(await company(cardea.rest));
  for (const { tenant } of companies) await addRows(tenant);
  const [first] = companies;
  if (first === undefined) throw new Error('no company');
  const others = bystander(cardea, cardea.rest.as(admin), admin.tenant);

  for (let n = 0; n < ABORTED; n += 1) {
    (await begun(cardea.base, first)).destroy();
  }
  const stall = async (): Promise<readonly IncomingMessage[]> => {
    const stalled: IncomingMessage[] = [];
    for (const each of companies) {
      for (let n = 0; n < STALLED_EACH; n += 1) stalled.push(await begun(cardea.base, each));
    }
    return stalled;
  };
  for (const each of await stall()) each.destroy();
  const before = rssKb(running.pid);
  await stall();
  const rounds = others.rounds();
  await untilTrue(() => others.rounds() >= rounds + 5 || others.failures.length > 0, {
    deadlineMs: 60_000,
    what: 'five more rounds beside exports that stand still',
  });
  const third = await cardea.rest.get(PATH, { tenant: first.tenant, bearer: first.bearer });
  // Garbage is collected while other requests run. What the exports occupied would stay.
  await untilTrue(() => rssKb(running.pid) - before < RSS_GROWTH_KB_MAX, {
    deadlineMs: 60_000,
    what: 'exports that stand still hold little memory',
  });
  await others.stop();

  expect(others.failures).toEqual([]);
  expect([third.status, third.code]).toEqual([429, 'rate_limited']);
  expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
});
