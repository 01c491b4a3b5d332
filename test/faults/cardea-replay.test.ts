/**
 * Tests what is sent again: events to topics, deliveries to webhooks. Also tests commands that run with a credential.
 */
import { topicOf } from '@cardea/contracts';
import { services } from '@cardea/standalone';
import {
  processFixture,
  programOf,
  type RestDriver,
  type ServiceFixture,
  serviceFixture,
  testDatabase,
  untilTrue,
  type WebhookSink,
  webhookSink,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CHEAP,
  cardeaFixture,
  exampleOf,
  SECRETS,
} from '../../services/standalone/test/cardea-fixture.ts';
import { type Company, company } from './company.ts';

const CARDEA = programOf(new URL('../../services/standalone/src/cardea.ts', import.meta.url));
const GIVEN_UP_MS_MAX = 60_000;
const ACCOUNT = { email: 'owner@example.com', password: 'a password for the tests' };
const TOPIC = topicOf('authz');

const database = testDatabase();
const processes = processFixture();
const { inJson, here, run, remove } = cardeaFixture(() => database.url);
let fixture: ServiceFixture;
let users: Company;
let sink: WebhookSink;

beforeAll(async () => {
  const { JWT_SECRET, ENCRYPTION_KEY } = SECRETS;
  const env = { JWT_SECRET, ENCRYPTION_KEY, ...CHEAP, WEBHOOK_RETRY_DELAYS: '1s,1s,1s,1s,1s' };
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: services, env });
  sink = await webhookSink();
  const body = { company_name: 'Acme', ...ACCOUNT };
  const signedUp = await fixture.rest.post('/api/v1/auth/signup', body);
  users = await company(fixture.rest, signedUp.body.tenant_id, ACCOUNT);
}, 180_000);
afterAll(async () => {
  await fixture?.stop();
  await sink?.close();
  remove();
});

describe('O13 relay replay', () => {
  const records = async (): Promise<readonly { id: string; position: string }[]> => {
    const { rows } = await fixture.shared.database.system.query<{ id: string; position: string }>(
      `SELECT value->>'id' AS id, value->>'position' AS position FROM bus.records
       WHERE topic = $1 ORDER BY (value->>'position')::bigint, "offset"`,
      [TOPIC],
    );
    return rows;
  };
  const admin = (): RestDriver => users.admin;
  const audited = async (): Promise<number> =>
    (await admin().get('/api/v1/audit/events', { query: { limit: 1000 } })).body.events.length;

  it('publishes again under the same ids, and our own consumers apply nothing twice', async () => {
    for (const object_id of ['a', 'b', 'c']) {
      const fields = { user_type: 'user', user_id: 'ann', relation: 'viewer' };
      const tuple = { ...fields, object_type: 'document', object_id };
      expect((await admin().post('/api/v1/fga/tuples', tuple)).status).toBe(201);
    }
    const isStill = async () =>
      [...(await fixture.shared.subscriberFor('audit').lag('audit', [TOPIC])).values()].every(
        (lag) => lag === 0,
      );
    await untilTrue(async () => (await records()).length >= 4 && (await isStill()), {
      what: 'the consumers stand at the end of the topic',
    });
    const before = await records();
    const rows = await audited();
    const from = before[1]?.position ?? '';
    const ran = await inJson(exampleOf('relay replay', { topic: TOPIC, from }));
    expect(ran).toMatchObject({ code: 0, last: { ok: true, from } });
    const again = await records();
    expect(again.length).toBe(2 * before.length - 1);
    expect(new Set(again.map(({ id }) => id))).toEqual(new Set(before.map(({ id }) => id)));
    await untilTrue(isStill, { what: 'the consumers have looked at the repeats' });
    expect(await audited()).toBe(rows);
  });

  it('refuses topics and positions that there are not', async () => {
    for (const line of [
      '--topic nothing --from 1',
      `--topic ${TOPIC}`,
      `--topic ${TOPIC} --from x`,
    ]) {
      expect((await here(`relay replay ${line}`)).code).toBe(2);
    }
  });
});

describe('O13 webhooks replay', () => {
  it('sends once more what was given up, and nothing that arrived', {
    timeout: 2 * GIVEN_UP_MS_MAX,
  }, async () => {
    sink.answerWith(() => ({ status: 500 }));
    const since = new Date().toISOString();
    const hook = { url: `${sink.url}/hook`, events: ['user.created'] };
    const made = await users.admin.post('/api/v1/webhooks', hook);
    expect(made.status, made.text).toBe(201);
    await users.person();
    const webhook = made.body.id;
    const given = await untilTrue(
      async () => {
        const { rows } = await fixture.shared.database.system.query(
          'SELECT FROM webhooks.attempts WHERE webhook_id = $1 AND final AND NOT success',
          [webhook],
        );
        return rows.length === 1 ? sink.received.length : undefined;
      },
      { deadlineMs: GIVEN_UP_MS_MAX, what: 'the delivery is given up' },
    );
    const line = exampleOf('webhooks replay', { webhook, since });
    sink.answerWith(() => ({ status: 200 }));
    expect(await inJson(line)).toMatchObject({ code: 0, last: { scheduled: 1, erased: 0 } });
    await untilTrue(() => sink.received.length === given + 1, { what: 'it is sent again' });
    const ids = new Set(sink.received.map(({ headers }) => headers['webhook-id']));
    expect(ids.size).toBe(1);
    await untilTrue(async () => (await inJson(line)).last.scheduled === 0, {
      what: 'nothing is left to be sent',
    });
    expect(sink.received.length).toBe(given + 1);
  });

  it('refuses webhooks and times that there are not', async () => {
    const none = '0198c2f4-8d5e-7c3a-9f21-6b0c4d1e2f3a';
    const unknown = await inJson(exampleOf('webhooks replay', { webhook: none }));
    expect(unknown).toMatchObject({ code: 1, last: { error: { code: 'webhook_not_found' } } });
    for (const line of ['--webhook x --since 2026-11-23', `--webhook ${none} --since monday`]) {
      expect((await here(`webhooks replay ${line}`)).code).toBe(2);
    }
  });
});

describe('O13 exec', () => {
  let env: { readonly [name: string]: string };
  let own: string;
  beforeAll(async () => {
    const machine = await users.machine();
    env = {
      CARDEA_URL: fixture.baseUrl,
      CARDEA_TENANT: users.tenant,
      CARDEA_AGENT_KEY: machine.key,
      CARDEA_CAPABILITY: machine.capability,
    };
    const values = { session: machine.sessionId, service: 'warehouse', fields: 'password=ERP_KEY' };
    own = exampleOf('exec', values).replace(/ -- .*/, '');
  });
  const start = (line: string, command: readonly string[]) =>
    processes.start({
      name: 'cardea-exec',
      script: CARDEA,
      args: [...line.split(' '), '--', ...command],
      env: { ...env },
    });
  const node = (program: string) => [process.execPath, '-e', program];

  it('hands the values to the environment of the command, and its exit code to the caller', async () => {
    const print = node('console.log(JSON.stringify(process.env)); process.exitCode = 7');
    const running = await start(own, print);
    expect(await running.ended).toBe(7);
    const given = JSON.parse(running.output());
    expect(given.ERP_KEY).toBe('the value that is kept');
    for (const name of Object.keys(env)) expect(given).not.toHaveProperty(name);
    const named = await start(
      own.replace('=ERP_KEY', ''),
      node('console.log(Object.keys(process.env))'),
    );
    expect(await named.ended).toBe(0);
    expect(named.output()).toContain('WAREHOUSE_PASSWORD');
  });

  it('hands signals on, and says when there is no such command', async () => {
    const program =
      "process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1e6); console.log('up')";
    const running = await start(own, node(program));
    await running.seen(/up/);
    expect(await running.end('SIGTERM')).toBe(5);
    expect(await (await start(own, ['no-such-program'])).ended).toBe(127);
  });

  it('says what is missing, and what the vault refuses, without a secret', async () => {
    const asked = await users.machine((await users.person()).token);
    const forPerson = { CARDEA_AGENT_KEY: asked.key, CARDEA_CAPABILITY: asked.capability };
    const gated = own
      .replace('warehouse', 'strongroom')
      .replace(/(--session) \S+/, `$1 ${asked.sessionId}`);
    const cases: readonly [number, RegExp, string, Record<string, string>][] = [
      [78, /CARDEA_AGENT_KEY is missing/, own, { CARDEA_AGENT_KEY: '' }],
      [78, /CARDEA_URL is not safe/, own, { CARDEA_URL: 'http://cardea.example.com' }],
      [1, /INVALID_AGENT_KEY/, own, { CARDEA_AGENT_KEY: 'a wrong one' }],
      [1, /CREDENTIAL_SCOPE_DENIED|NOT_FOUND/, own.replace('warehouse', 'cellar'), {}],
      [1, /NO_APPROVER/, own.replace('warehouse', 'strongroom'), {}],
      [1, /--approval [\w-]{8}/, gated, forPerson],
      [2, /--fields/, own.replace('password=ERP_KEY', 'password=9'), {}],
    ];
    for (const [code, said, line, over] of cases) {
      // Runs in this process, because no program is started.
      const { code: ended, out, err } = await run(`${line} -- false`, { ...env, ...over });
      expect(ended, err).toBe(code);
      expect(out + err).toMatch(said);
      for (const value of [env['CARDEA_AGENT_KEY'], env['CARDEA_CAPABILITY']]) {
        expect(out + err).not.toContain(value);
      }
    }
    expect((await here(own)).code).toBe(2);
  });
});
