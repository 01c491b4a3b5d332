/** Deletes a user, and searches every store for what is left of them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sealed, type Sealer, Tampered } from '@cardea/crypto';
import { rebuildProjection } from '@cardea/read-models';
import { type Clock, systemClock } from '@cardea/runtime';
import { services } from '@cardea/standalone';
import {
  type ServiceFixture,
  serviceFixture,
  testDatabase,
  untilTrue,
  type WebhookSink,
  webhookSink,
} from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentsAndKeysOf } from '../security/agents-and-keys.ts';
import { dumpOf } from '../security/dump.ts';
import { canariesOf, hits, type Location } from '../security/search.ts';
import { expectStatus, PASSWORD, type Person, usersOf } from '../security/users.ts';

const PERSON = {
  email: 'vera.lindqvist-okonkwo@example.com',
  display_name: 'Vera Lindqvist-Okonkwo',
  renamed: 'Vera of the Lindqvists',
  avatar_url: 'https://pictures.example.com/vera-lindqvist.png',
  reason: 'Vera Lindqvist-Okonkwo wants the report of March',
  deny_reason: 'Vera has changed her mind',
};
const canaries = Object.entries(PERSON).flatMap(([name, value]) => canariesOf(name, value));
const WEEK_AND_A_DAY = 8;
const DAY_MS = 24 * 3600_000;
const DELIVERY_WAIT_MS = 60_000;
const START_MS_MAX = 120_000;

const database = testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'cardea-erasure-'));
let receiver: WebhookSink;
let fixture: ServiceFixture;
let owner: Person;
let person: Person;

const start = (daysLater: number): Promise<ServiceFixture> => {
  const clock: Clock = {
    ...systemClock,
    now: () => new Date(Date.now() + daysLater * DAY_MS),
  };
  const env = {
    JWT_SECRET: 'a secret that outlives a restart, long enough',
    ENCRYPTION_KEY: 'c0ffee00'.repeat(8),
    ARGON2_MEMORY: '64',
    ARGON2_TIME: '1',
    CARDEA_DATA: folder,
  };
  return serviceFixture({ databaseUrl: database.url, definitions: services, clock, env });
};
const byOwner = () => fixture.rest.as({ bearer: owner.access, tenant: owner.tenantId });

beforeAll(async () => {
  receiver = await webhookSink();
  fixture = await start(0);
  await storyOfThePerson();
}, START_MS_MAX);
afterAll(async () => {
  await fixture?.stop();
  await receiver?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function storyOfThePerson(): Promise<void> {
  const users = usersOf(fixture.rest);
  owner = await users.signUp('Acme');
  const { tenantId: tenant } = owner;
  const events = ['user.created', 'user.login', 'approval.requested', 'approval.denied'];
  const hook = { url: `${receiver.url}/hook`, events };
  expectStatus(await byOwner().post('/api/v1/webhooks', hook), 201);
  const { email, display_name, avatar_url } = PERSON;
  const made = { email, password: PASSWORD, display_name, roles: ['member'] };
  expectStatus(await byOwner().post('/api/v1/admin/users', made), 201);
  person = await users.logIn({ tenantId: tenant, email });
  const own = fixture.rest.as({ bearer: person.access, tenant });
  const profile = { display_name: PERSON.renamed, avatar_url };
  expectStatus(await own.patch('/api/v1/user/profile', profile), 200);
  for (const password of ['a wrong password of hers', PASSWORD]) {
    await fixture.rest.post('/api/v1/auth/login', { email, password }, { tenant });
  }
  expectStatus(await fixture.rest.post('/api/v1/auth/forgot-password', { email }, { tenant }), 200);
  await fixture.rest.post('/api/v1/auth/register', { ...made, roles: undefined }, { tenant });
  const renewed = await fixture.rest.post('/api/v1/auth/refresh', {
    refresh_token: person.refresh,
  });
  expectStatus(renewed, 200);
  const { agent } = await agentsAndKeysOf(fixture.rest, { owner, member: person });
  const { reason } = PERSON;
  const ask = { agent_id: agent.id, user_id: person.userId, action: 'write_data', reason };
  const asked = await untilTrue(async () => {
    const answer = await byOwner().post('/api/v1/ciba/requests', ask);
    return answer.status === 201 ? answer : undefined;
  });
  const deny = { reason: PERSON.deny_reason };
  const denied = await own.post(`/api/v1/ciba/requests/${asked.body.id}/deny`, deny);
  expectStatus(denied, 200);
  await receiver.waitFor(({ body }) => body.includes(PERSON.renamed), DELIVERY_WAIT_MS);
  await recorded('admin.user.create');
}

const recorded = (type: string) =>
  untilTrue(async () => (await byOwner().get('/api/v1/audit/events')).text.includes(`"${type}"`), {
    what: `${type} in the audit log`,
  });

/** Field names under which values were encrypted, besides their own. */
const FIELDS = [
  ['email', 'display_name', 'avatar_url', 'password_hash', 'ip', 'user_agent', 'user'],
  ['refreshed_by', 'private', 'reason', 'code', 'deny_reason', 'body', 'excerpt', 'keys', 'url'],
  ['secret', 'description'],
].flat();

type Opened = { readonly texts: readonly Location[]; readonly unopened: readonly string[] };

/** Every encrypted field of every event that the remaining keys still decrypt. */
async function openedEvents(): Promise<Opened> {
  const texts: Location[] = [];
  const unopened: string[] = [];
  for (const { name } of services) {
    const { store, sealer } = fixture.host.needsOf(name);
    const fields = (await store.readLog(name, 0n, 100_000)).flatMap(
      ({ type, streamId, data, metadata }) =>
        sealedIn({ data, metadata }).map((each) => ({ type, streamId, ...each })),
    );
    for (const of of fields) {
      const place = `${name} ${of.type} ${of.field} of ${of.sealed.subject}`;
      const text = await openedAt(sealer, of.sealed, of);
      if (text === undefined) unopened.push(place);
      else if (text !== null) texts.push({ name: place, text });
    }
  }
  return { texts, unopened };
}

function sealedIn(value: unknown, field = ''): { sealed: Sealed; field: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const { subject, box } = value as Partial<Sealed>;
  if (typeof subject === 'string' && typeof box === 'string') {
    return [{ sealed: { subject, box }, field }];
  }
  return Object.entries(value).flatMap(([name, inner]) => sealedIn(inner, name));
}

/** Null if it was erased. Undefined if it was encrypted at a location that this test does not know. */
async function openedAt(
  sealer: Pick<Sealer, 'open'>,
  sealed: Sealed,
  of: { readonly field: string; readonly streamId: string },
): Promise<string | null | undefined> {
  // The keys of all rings are encrypted at the location of the EdDSA ring. The id of a key is in its subject.
  const places = [of.streamId, 'context', 'keyring-main'].flatMap((streamId) =>
    [of.field, ...FIELDS].map((field) => ({ streamId, field })),
  );
  for (const place of places) {
    try {
      return await sealer.open(sealed, place);
    } catch (error) {
      if (!(error instanceof Tampered)) throw error;
    }
  }
  return undefined;
}

async function rebuildEverything(): Promise<number> {
  let parked = 0;
  for (const { service, projection } of fixture.host.projections) {
    const { store, sealer, log } = fixture.host.needsOf(service);
    const { parkedStreams } = await rebuildProjection({
      connectionString: database.url,
      projection,
      schema: service,
      store,
      open: sealer.open,
      log,
    });
    parked += parkedStreams;
  }
  return parked;
}

const isErased = (schema: string, subject: string) => async () => {
  const { rows } = await fixture.shared.database.system.query<{ gone: boolean }>(
    `SELECT wrapped IS NULL AS gone FROM ${schema}.subject_keys WHERE subject_id = $1`,
    [subject],
  );
  return rows[0]?.gone === true;
};

describe('R26 a person who was deleted', () => {
  it('stood in tables, and in what could be opened, before', async () => {
    const found = hits(canaries, await dumpOf(database.url)).join('\n');
    for (const table of ['identity.users', 'approval.users', 'bus.records']) {
      expect(found).toContain(table);
    }
    const { texts, unopened } = await openedEvents();
    expect(unopened).toEqual([]);
    for (const [name, value] of Object.entries(PERSON)) {
      expect(hits(canariesOf(name, value), texts), name).not.toEqual([]);
    }
  });

  it('stands in nothing but topics once the deletion was heard, and in no log that can be opened', async () => {
    expectStatus(await byOwner().delete(`/api/v1/admin/users/${person.userId}`), 200);
    await recorded('admin.user.delete');
    const { userId, tenantId } = person;
    await untilTrue(isErased('identity', `user:${userId}`), { what: 'identity has forgotten' });
    await untilTrue(isErased('approval', `user:${tenantId}:${userId}`), { what: 'approval too' });
    await untilTrue(isErased('webhooks', `user:${userId}`), {
      what: 'webhooks too',
      deadlineMs: DELIVERY_WAIT_MS,
    });
    const places = (await dumpOf(database.url)).filter(({ name }) => name !== 'table bus.records');
    expect(hits(canaries, places)).toEqual([]);
  });

  it('is gone a week later: rebuilt, dumped, opened, exported', {
    timeout: START_MS_MAX,
  }, async () => {
    await fixture.stop();
    await ageTopics();
    fixture = await start(WEEK_AND_A_DAY);
    owner = await usersOf(fixture.rest).logIn(owner);
    const mailDay = `transient:${owner.tenantId}:${new Date().toISOString().slice(0, 10)}`;
    await untilTrue(isErased('identity', mailDay), { what: 'the keys of the day are erased' });
    const isForgotten = async () => hits(canaries, await dumpOf(database.url)).length === 0;
    await untilTrue(isForgotten, { what: 'the topics have forgotten' });

    expect(await rebuildEverything()).toBe(0);
    expect(hits(canaries, await dumpOf(database.url))).toEqual([]);
    const { texts, unopened } = await openedEvents();
    expect(unopened).toEqual([]);
    expect(hits(canaries, texts)).toEqual([]);
    expect(hits(canariesOf('owner', owner.email), texts)).not.toEqual([]);

    const exported: Location[] = [];
    for (const path of ['/api/v1/audit/events', '/api/v1/audit/events.csv']) {
      const { status, text } = await byOwner().get(path, { query: { limit: '1000' } });
      expect(status).toBe(200);
      exported.push({ name: path, text });
    }
    expect(exported.every(({ text }) => text.includes(person.userId))).toBe(true);
    expect(hits(canaries, exported)).toEqual([]);
    for (const path of ['/api/v1/admin/users', '/api/v1/webhooks', '/api/v1/ciba/requests']) {
      const { text } = await byOwner().get(path);
      expect(hits(canaries, [{ name: path, text }])).toEqual([]);
    }
  });
});

/** Uses the database's own clock, which determines a record's age. */
async function ageTopics(): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `UPDATE bus.records SET published_at = published_at - interval '${WEEK_AND_A_DAY} days'`,
  );
  await client.end();
}
