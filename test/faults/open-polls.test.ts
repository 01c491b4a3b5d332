/** How often PostgreSQL is asked for long polls that are open and whose requests nobody decides. */
import { setTimeout as pause } from 'node:timers/promises';
import { processFixture, type RestDriver, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { instance } from './instance.ts';
import { loggedPostgres } from './statement-log.ts';

const PEOPLE = 12;
const REQUESTS_EACH = 10;
const OPEN = PEOPLE * REQUESTS_EACH;
/** The polls are opened at different times, so that they are also due at different times. */
const BETWEEN_MS = 20;
/** On a busy machine some polls end by themselves, 30 s after they were opened, before all were counted. */
const PLAYS_MAX = 5;
const OPEN_MS_MAX = 20_000;
/** Each request is read once in this time. */
const PERIOD_MS = 5_000;
/** Each turn reads the requests that are due within the next second. */
const TURNS_MAX = 7;
/** A request that was read in the first turn of a period may be read in the last one too. */
const READS_MAX = OPEN * 1.5;
const PASSWORD = 'a password for the tests';
const TEST_MS_MAX = 600_000;

const fixture = processFixture();
let postgres: Awaited<ReturnType<typeof loggedPostgres>>;
beforeAll(async () => {
  postgres = await loggedPostgres();
});
afterAll(async () => {
  await postgres?.stop();
});

it('open polls read their requests together, in a few statements per period', {
  timeout: TEST_MS_MAX,
}, async () => {
  const env = { DATABASE_URL: postgres.url, RATE_LIMIT_FACTOR: '1000' };
  const cardea = await instance(fixture, env);
  const running = await cardea.start();
  const admin = await cardea.admin();
  const asAdmin = cardea.rest.as(admin);
  const agent = await asAdmin.post('/api/v1/agents', { name: 'asker' });
  const polls: ((leaving: AbortController) => Promise<unknown>)[] = [];
  for (let at = 0; at < PEOPLE; at += 1) {
    const { id, driver } = await person(cardea.rest, { ...admin, at });
    while (polls.length < (at + 1) * REQUESTS_EACH) {
      const asked = { agent_id: agent.body.id, user_id: id, action: `deploy-${polls.length}` };
      const made = await asAdmin.post('/api/v1/ciba/requests', { ...asked, ttl_seconds: 600 });
      expect(made.status).toBe(201);
      polls.push((leaving) => driver.get(`/api/v1/ciba/requests/${made.body.id}/poll`, leaving));
    }
  }
  const countOpen = async () => {
    const text = await (await fetch(`${cardea.management}/metrics`)).text();
    return Number(/^cardea_long_polls_open (\d+)$/m.exec(text)?.[1]);
  };
  const play = async () => {
    const leaving = new AbortController();
    const open: Promise<unknown>[] = [];
    for (const poll of polls) {
      open.push(poll(leaving).catch(() => undefined));
      await pause(BETWEEN_MS);
    }
    const areOpen = async () => (await countOpen()) === OPEN;
    const waiting = { deadlineMs: OPEN_MS_MAX, what: 'all polls are open' };
    await untilTrue(areOpen, waiting).catch(() => undefined);
    const logged = await postgres.during(() => pause(PERIOD_MS));
    const isValid = await areOpen();
    leaving.abort();
    await Promise.all(open);
    await untilTrue(async () => (await countOpen()) === 0, { what: 'all polls have ended' });
    return isValid ? logged : undefined;
  };
  let plays = 1;
  let logged = await play();
  for (; logged === undefined && plays < PLAYS_MAX; plays += 1) logged = await play();
  if (logged === undefined) throw new Error(`polls ended in each of ${plays} plays`);
  const { statements, seconds } = logged;
  const reads = statements.filter(({ name }) => name === 'read-streams');
  const shares = reads.reduce((sum, each) => sum + each.shares, 0);
  console.log(`${reads.length} statements with ${shares} reads in ${seconds.toFixed(1)} s`);
  const periods = (seconds * 1_000) / PERIOD_MS;
  expect(reads.length).toBeLessThanOrEqual(TURNS_MAX * periods);
  expect(shares).toBeGreaterThanOrEqual(OPEN);
  expect(shares).toBeLessThanOrEqual(READS_MAX * periods);
  expect(await running.end('SIGTERM')).toBe(0);
});

type Admin = { readonly bearer: string; readonly tenant: string; readonly at: number };

async function person(rest: RestDriver, { bearer, tenant, at }: Admin) {
  const login = { email: `person-${at}@example.com`, password: PASSWORD };
  const body = { ...login, email_verified: true };
  const made = await rest.as({ bearer, tenant }).post('/api/v1/admin/users', body);
  const { body: session } = await rest.post('/api/v1/auth/login', login, { tenant });
  const driver = rest.as({ bearer: session.access_token, tenant });
  return { id: made.body.id, driver };
}
