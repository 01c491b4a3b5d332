import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type LocalPostgres, startLocalPostgres } from '@cardea/local-postgres';
import {
  processFixture,
  type RestDriver,
  testForm,
  untilTrue,
  type WebhookSink,
  webhookSink,
} from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { chance } from './chance.ts';
import { instance } from './instance.ts';

const RECEIVERS = 30;
const EVENTS = 15;
const ROUNDS = testForm.long ? 10 : 2;
const FROZEN_MS = 3_000;
const ALL_THERE_MS = 20_000;
/** Slow enough for the outage to begin during the deliveries. */
const ANSWER_MS = 20;
/** The outage begins after a random number of a round's deliveries, up to this one. */
const UNDER_WAY_MAX = 300;
const TEST_MS_MAX = 600_000;

const fixture = processFixture();
const folder = mkdtempSync(join(tmpdir(), 'cardea-frozen-'));
const sinks: WebhookSink[] = [];
let postgres: LocalPostgres | undefined;
afterAll(async () => {
  await Promise.all(sinks.map((sink) => sink.close()));
  postgres?.stop({ remove: true });
  rmSync(folder, { recursive: true, force: true });
});

it('R12 a database that stands still for 3 s leaves no delivery behind, and none is sent twice', {
  timeout: TEST_MS_MAX,
}, async () => {
  postgres = await startLocalPostgres({ dataFolder: folder, password: 'for-this-test' });
  await postgres.createDatabase('cardea');
  const cardea = await instance(fixture, { DATABASE_URL: postgres.connectionString('cardea') });
  const running = await cardea.start();
  const admin = cardea.rest.as(await cardea.admin());
  const { id: itself } = (await admin.get('/api/v1/user/profile')).body;
  for (let at = 0; at < RECEIVERS; at += 1) {
    const sink = await webhookSink();
    sinks.push(sink);
    sink.answerWith(() => pause(ANSWER_MS, { status: 200 }));
    const made = await admin.post('/api/v1/webhooks', { url: sink.url, events: ['user.created'] });
    expect(made.status).toBe(201);
  }
  const draw = chance();
  const deliveries = () =>
    sinks.flatMap(({ received }) =>
      received
        // The administrator's event is from before, and may be read after the first webhook was created.
        .filter(({ body }) => !body.includes(itself))
        .map(({ headers }) => String(headers['x-service-delivery'])),
    );
  for (let round = 1; round <= ROUNDS; round += 1) {
    const before = deliveries().length;
    const created = createUsers(admin, round);
    const underWay = draw.ms(1, UNDER_WAY_MAX);
    await untilTrue(() => deliveries().length >= before + underWay, { what: 'some are sent' });
    await frozen(postgres.pid);
    const thawed = performance.now();
    await created;
    await untilTrue(() => new Set(deliveries()).size === round * RECEIVERS * EVENTS, {
      deadlineMs: ALL_THERE_MS,
      what: `all deliveries of round ${round} are there`,
    }).catch(async (cause: unknown) => {
      const count = new Set(deliveries()).size;
      throw new Error(`${count} are there; ${await waitingIn(postgres)}`, { cause });
    });
    console.log(`round ${round}: all there in ${Math.round(performance.now() - thawed)} ms`);
  }
  // All deliveries were answered, so none may be repeated. A repeat would come within a lease.
  expect(deliveries()).toHaveLength(ROUNDS * RECEIVERS * EVENTS);
  expect(await running.end('SIGTERM')).toBe(0);
});

/** Repeated until answered, because the outage affects these requests too. */
async function createUsers(admin: RestDriver, round: number): Promise<void> {
  const create = async (_: unknown, at: number): Promise<void> => {
    const user = { email: `user${round}-${at}@example.com`, password: 'nobody guesses this one' };
    const headers = { 'idempotency-key': `user-${round}-${at}` };
    await untilTrue(async () => {
      const { status } = await admin.post('/api/v1/admin/users', user, { headers });
      return status === 201;
    });
  };
  await Promise.all(Array.from({ length: EVENTS }, create));
}

/** The rows of the queue and the attempts that explain a missing delivery. */
async function waitingIn(server: LocalPostgres | undefined): Promise<string> {
  const client = new Client({ connectionString: server?.connectionString('cardea') });
  await client.connect();
  const { rows } = await client.query(`
    SELECT q.run_at - now() AS due_in, q.attempts_made, q.lease_until - now() AS leased_for, a.error
    FROM webhooks.queue q LEFT JOIN webhooks.attempts a ON a.delivery_id = q.delivery_id LIMIT 10`);
  await client.end();
  return JSON.stringify(rows);
}

/** Stops the server and all its processes; the kernel still accepts what is sent to them. */
async function frozen(postmaster: number): Promise<void> {
  process.kill(postmaster, 'SIGSTOP');
  const children = childrenOf(postmaster);
  for (const pid of children) process.kill(pid, 'SIGSTOP');
  await pause(FROZEN_MS);
  for (const pid of children) process.kill(pid, 'SIGCONT');
  process.kill(postmaster, 'SIGCONT');
}

function childrenOf(parent: number): readonly number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(parent)]);
  return stdout
    .toString('utf8')
    .split('\n')
    .map((line) => Number(line.trim()))
    .filter((pid) => pid > 1);
}
