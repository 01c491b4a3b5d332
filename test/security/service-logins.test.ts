/**
 * Tests that the login of one service can do nothing in PostgreSQL to what belongs to the others. The tables and
 * functions are taken from the catalogue, so that a new one is tried as well.
 */
import { randomUUID } from 'node:crypto';
import { LISTENS_TO, SERVICE_NAMES, type ServiceName, topicOf } from '@cardea/contracts';
import { APP_ROLE, makeDatabaseLogins, rolesOf } from '@cardea/read-models';
import { formatFaults, logger, readSettings, secret } from '@cardea/runtime';
import { buildParts, infrastructure } from '@cardea/service';
import { services } from '@cardea/standalone';
import { testDatabase } from '@cardea/testing';
import { Client, type QueryResultRow } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendNote, loggedInStores } from './logged-in-stores.ts';

const database = testDatabase();
const LOGS = new Map(SERVICE_NAMES.map((name, index) => [name, index + 1]));
const KINDS = ['app', 'system'] as const;
const run = randomUUID().slice(0, 8);
const logins = SERVICE_NAMES.map((service) => ({
  service,
  name: `cardea_${service}_${run}`,
  password: secret(randomUUID()),
}));
const stores = loggedInStores();

function urlOf(service: ServiceName): string {
  const login = logins.find((each) => each.service === service);
  const { name: username = '', password } = login ?? {};
  return Object.assign(new URL(database.url), { username, password: password?.reveal() }).href;
}

async function ask<Row extends QueryResultRow>(
  url: string,
  role: string | undefined,
  text: string,
  values: unknown[] = [],
): Promise<readonly Row[]> {
  const client = new Client({
    connectionString: url,
    ...(role === undefined ? {} : { options: `-c role=${role}` }),
  });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}
const asOwner = <Row extends QueryResultRow>(text: string, values?: unknown[]) =>
  ask<Row>(database.url, undefined, text, values);
/** The SQLSTATE of a refusal. */
const refusal = (url: string, role: string | undefined, text: string, values?: unknown[]) =>
  ask(url, role, text, values).then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );

beforeAll(async () => {
  if (!URL.canParse(database.url)) return;
  await makeDatabaseLogins(database.url, logins);
  for (const name of SERVICE_NAMES) {
    await appendNote(stores.as(database.url, undefined, name), `note-${name}`, 0);
    await asOwner('SELECT * FROM bus.publish($1, $2, $3, $4, $5, $6)', [
      ...[topicOf(name), [0], ['k'], ['note.made'], '[{"position":"1"}]', 'test'],
    ]);
    await asOwner('INSERT INTO bus.relay_checkpoints (log, position) VALUES ($1, 1)', [name]);
    await asOwner('INSERT INTO bus.members VALUES ($1, $2, 1)', [name, randomUUID()]);
  }
}, 60_000);
afterAll(async () => {
  await stores.close();
  for (const { name } of logins) await asOwner(`DROP ROLE IF EXISTS ${name}`);
});

const PERMISSION_DENIED = '42501';
const CHECK_VIOLATION = '23514';
const others = (service: ServiceName) => SERVICE_NAMES.filter((name) => name !== service);

describe('S25 the login of a service', () => {
  it('has no rights without a role, and takes no role but its own two', async () => {
    for (const service of SERVICE_NAMES) {
      const bare = await refusal(urlOf(service), undefined, 'SELECT FROM eventstore.events');
      expect(bare).toBe(PERMISSION_DENIED);
      const [owner] = await asOwner<{ name: string }>('SELECT current_user AS name');
      const foreign = [
        ...[APP_ROLE, 'cardea_system', 'pg_monitor', owner?.name ?? ''],
        ...others(service).flatMap((name) => Object.values(rolesOf(name))),
        ...(service === 'audit' ? [] : ['audit_reaper']),
      ];
      for (const role of foreign) {
        const code = await refusal(urlOf(service), undefined, `SET ROLE ${role}`);
        expect(code, `${service} as ${role}`).toBe(PERMISSION_DENIED);
      }
    }
  });

  it('reaches no schema, table, column, sequence or function of another service', async () => {
    const reached = await asOwner<{ role: string; object: string }>(
      `WITH roles AS (
         SELECT service, format('cardea_%s_%s', service, kind) AS role
           FROM unnest($1::text[]) AS service, unnest($2::text[]) AS kind
       ), foreign_schemas AS (
         SELECT role, n.oid, n.nspname FROM roles
           JOIN pg_namespace n ON n.nspname = ANY ($1) AND n.nspname <> service
       )
       SELECT role, nspname::text AS object FROM foreign_schemas
        WHERE has_schema_privilege(role, oid, 'USAGE, CREATE')
       UNION ALL
       SELECT role, c.oid::regclass::text FROM foreign_schemas f JOIN pg_class c ON c.relnamespace = f.oid
        WHERE (c.relkind IN ('r', 'p', 'v', 'm')
               AND (has_table_privilege(role, c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES')
                    OR has_any_column_privilege(role, c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')))
           OR (c.relkind = 'S' AND has_sequence_privilege(role, c.oid, 'USAGE, SELECT, UPDATE'))
       UNION ALL
       SELECT role, p.oid::regprocedure::text FROM foreign_schemas f JOIN pg_proc p ON p.pronamespace = f.oid
        WHERE p.prosecdef AND has_function_privilege(role, p.oid, 'EXECUTE')`,
      [SERVICE_NAMES, KINDS],
    );
    expect(reached).toEqual([]);
    const code = await refusal(
      urlOf('webhooks'),
      rolesOf('webhooks').system,
      'SELECT FROM identity.users',
    );
    expect(code).toBe(PERMISSION_DENIED);
  });

  it('has in its own schema what the roles of all services have there', async () => {
    const rights = async (roleOf: (service: ServiceName) => { app: string; system: string }) =>
      asOwner(
        `SELECT r.kind, c.oid::regclass::text AS object, a.privilege_type, '' AS of
           FROM unnest($1::text[], $2::text[], $3::text[]) AS r (service, kind, role)
           JOIN pg_class c ON c.relnamespace = r.service::regnamespace
           CROSS JOIN aclexplode(c.relacl) AS a WHERE a.grantee = r.role::regrole
         UNION ALL
         SELECT r.kind, p.polrelid::regclass::text, p.polname, p.polcmd::text
           FROM unnest($1::text[], $2::text[], $3::text[]) AS r (service, kind, role)
           JOIN pg_class c ON c.relnamespace = r.service::regnamespace
           JOIN pg_policy p ON p.polrelid = c.oid AND r.role::regrole = ANY (p.polroles)
         ORDER BY 1, 2, 3`,
        [
          SERVICE_NAMES.flatMap((service) => KINDS.map(() => service)),
          SERVICE_NAMES.flatMap(() => KINDS),
          SERVICE_NAMES.flatMap((service) => KINDS.map((kind) => roleOf(service)[kind])),
        ],
      );
    const own = await rights((service) => rolesOf(service));
    expect(own.length).toBeGreaterThan(100);
    expect(own).toEqual(await rights(() => rolesOf()));
  });

  it('reads its own log and no other', async () => {
    for (const service of SERVICE_NAMES) {
      for (const kind of KINDS) {
        for (const table of ['events', 'streams']) {
          const rows = await ask<{ log: number }>(
            urlOf(service),
            rolesOf(service)[kind],
            `SELECT DISTINCT log FROM eventstore.${table}`,
          );
          expect(rows).toEqual([{ log: LOGS.get(service) }]);
        }
      }
    }
  });

  it('appends to its own log; to another one nothing, and hears nothing of it', async () => {
    for (const service of SERVICE_NAMES) {
      const role = rolesOf(service).app;
      expect(await appendNote(stores.as(urlOf(service), role, service), randomUUID(), 0)).toEqual([
        expect.objectContaining({ appended: true }),
      ]);
      for (const other of others(service)) {
        const store = stores.as(urlOf(service), role, other);
        // A new stream, and an existing one with the right, a wrong and any revision.
        for (const expected of [0, 1, 7, 'any'] as const) {
          const stream = expected === 0 ? randomUUID() : `note-${other}`;
          const code = await appendNote(store, stream, expected).then(
            (outcome) => outcome,
            (error: { code?: string }) => error.code,
          );
          expect(code, `${service} at the log of ${other}, ${expected}`).toBe(CHECK_VIOLATION);
        }
      }
    }
    const logs = await asOwner<{ log: number; events: number }>(
      'SELECT log, count(*)::integer AS events FROM eventstore.events GROUP BY log ORDER BY log',
    );
    expect(logs).toEqual(SERVICE_NAMES.map((_, index) => ({ log: index + 1, events: 2 })));
  });

  it('asks the older functions for another log in vain, and changes no event of its own', async () => {
    const [url, role] = [urlOf('vault'), rolesOf('vault').system];
    const one = `SELECT * FROM eventstore.append_one(1::smallint, 'note-identity', 1, gen_random_uuid(),
      'Noted', 1, now(), '{}', '{}')`;
    expect(await refusal(url, role, one)).toBe(CHECK_VIOLATION);
    for (const change of [
      'UPDATE eventstore.events SET data = data',
      'DELETE FROM eventstore.events',
    ]) {
      expect(await refusal(url, role, change)).toBe(PERMISSION_DENIED);
    }
  });

  it('meets the check of its log in each function that writes as the owner', async () => {
    const functions = await asOwner<{ name: string; writes: boolean }>(
      `SELECT proname AS name, prosrc ~ 'INSERT INTO eventstore.streams' AS writes FROM pg_proc
        WHERE pronamespace = 'eventstore'::regnamespace AND prosecdef ORDER BY 1`,
    );
    // Each append begins with the table of streams, which checks the right. A new function has to do the same.
    expect(functions).toEqual([
      ...['append', 'append_batch', 'append_event', 'append_one'].map((name) => ({
        ...{ name, writes: true },
      })),
      // `end_of_log` returns null to all services but the webhook dispatcher, as the attacks of the cluster show.
      { name: 'end_of_log', writes: false },
    ]);
  });

  it('reads the topics that it listens to, and publishes to its own alone', async () => {
    for (const service of SERVICE_NAMES) {
      const [url, role] = [urlOf(service), rolesOf(service).system];
      const heard = [...new Set([...LISTENS_TO[service], service])].map(topicOf).toSorted();
      for (const table of ['records', 'partitions']) {
        const rows = await ask<{ topic: string }>(
          ...([url, role, `SELECT DISTINCT topic FROM bus.${table} ORDER BY topic`] as const),
        );
        expect(rows.map(({ topic }) => topic)).toEqual(heard);
      }
      const send = (topic: string) =>
        refusal(url, role, 'SELECT * FROM bus.publish($1, $2, $3, $4, $5, $6)', [
          ...[topic, [0], ['k'], ['note.made'], '[{"position":"9"}]', 'test'],
        ]);
      for (const other of others(service)) {
        expect(await send(topicOf(other))).toBe(PERMISSION_DENIED);
        expect(await send(`cardea.${other}.dlq.v1`)).toBe(PERMISSION_DENIED);
      }
      expect(await send(topicOf(service))).toBe('done');
      expect(await send(`cardea.${service}.dlq.v1`)).toBe('done');
    }
  });

  it('moves no checkpoint of another relay, and drops no record and no member of another one', async () => {
    for (const service of SERVICE_NAMES) {
      const [url, role] = [urlOf(service), rolesOf(service).system];
      const moved = await ask<{ log: string }>(
        ...([url, role, 'UPDATE bus.relay_checkpoints SET position = 5 RETURNING log'] as const),
      );
      expect(moved).toEqual([{ log: service }]);
      const dropped = await ask<{ topic: string }>(
        ...([url, role, 'DELETE FROM bus.records RETURNING topic'] as const),
      );
      const own = [topicOf(service), `cardea.${service}.dlq.v1`];
      expect([...new Set(dropped.map(({ topic }) => topic))].toSorted()).toEqual(own.toSorted());
      const left = await ask<{ consumer: string }>(
        ...([url, role, 'DELETE FROM bus.members RETURNING consumer'] as const),
      );
      expect(left).toEqual([{ consumer: service }]);
    }
  });

  it('finds every table that all services share behind row-level security', async () => {
    const open = await asOwner<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
        WHERE relnamespace IN ('eventstore'::regnamespace, 'bus'::regnamespace)
          AND relkind IN ('r', 'p') AND NOT relrowsecurity ORDER BY 1`,
    );
    expect(open.map(({ name }) => name)).toEqual([
      ...['bus.log_epoch', 'bus.schema_migrations', 'eventstore.schema_migrations'],
    ]);
    const written = await asOwner(
      `SELECT DISTINCT a.privilege_type AS may FROM pg_class c, aclexplode(c.relacl) AS a
        WHERE c.oid IN ('bus.log_epoch'::regclass, 'bus.schema_migrations'::regclass,
            'eventstore.schema_migrations'::regclass) AND a.grantee <> c.relowner`,
    );
    expect(written).toEqual([{ may: 'SELECT' }]);
  });
});

describe('S25 the topics that a service reads', () => {
  it('are those that its consumers listen to', async () => {
    const env = {
      DATABASE_URL: database.url,
      JWT_SECRET: run.repeat(4),
      ENCRYPTION_KEY: run.repeat(8),
    };
    const read = readSettings(env, { standalone: true });
    if ('faults' in read) throw new Error(formatFaults(read.faults));
    const log = logger({ service: 'test', version: '0.0.0', level: 'error' });
    const shared = infrastructure({ settings: read.ok, version: '0.0.0', log });
    const given = { infrastructure: shared, definitions: services };
    const { parts } = buildParts({ ...given, port: 0, managementPort: 0, hosts: [] });
    for (const { definition, service, positions } of parts) {
      const heard = new Set(service.consumers.flatMap(({ topics }) => topics));
      const said = LISTENS_TO[definition.name].map(topicOf);
      expect([...heard].toSorted(), definition.name).toEqual(said.toSorted());
      await positions.close();
    }
    await shared.close();
  });
});
