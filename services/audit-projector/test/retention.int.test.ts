import { auditService } from '@cardea/audit-projector';
import { fakeClock } from '@cardea/runtime';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeOldRows } from '../src/retention/remove-old-rows.ts';

const database = testDatabase();
const NOW = new Date('2026-06-01T03:30:00.000Z');
const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
let fixture: ServiceFixture;
let sql: Client;
beforeAll(async () => {
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: [auditService] });
  sql = new Client({ connectionString: database.url });
  await sql.connect();
});
afterAll(async () => {
  await sql?.end();
  await fixture?.stop();
});

const run = () =>
  removeOldRows({ ...fixture.host.needsOf('audit'), clock: fixture.shared.clock }, NOW, {
    signal: new AbortController().signal,
    tick: () => undefined,
  });

let tenants = 0;
const newTenant = () => {
  tenants += 1;
  return `00000000-0000-4000-8000-${String(tenants).padStart(12, '0')}`;
};

const daysAgo = (days: number, ms = 0): Date => new Date(NOW.getTime() - days * DAY_MS + ms);

async function addRows(tenantId: string, times: readonly Date[]): Promise<void> {
  const days = new Set(times.map((time) => time.toISOString().slice(0, 10)));
  for (const day of days) await sql.query('SELECT audit.make_partition($1::date)', [day]);
  await sql.query(
    `INSERT INTO audit.events (tenant_id, ts, id, type, category, action, result, actor_type,
       actor_id, target_type, details)
     SELECT $1, ts, gen_random_uuid(), 'login.success', 'auth', 'login', 'success', 'user', 'u',
       'session', '{}'
     FROM unnest($2::timestamptz[]) AS ts`,
    [tenantId, times],
  );
}

async function timesOf(tenantId: string): Promise<readonly string[]> {
  const { rows } = await sql.query<{ ts: Date }>(
    `SELECT ts FROM audit.events WHERE tenant_id = $1 AND type = 'login.success' ORDER BY ts`,
    [tenantId],
  );
  return rows.map(({ ts }) => ts.toISOString());
}

const removals = async (tenantId: string) => {
  const bearer = fixture.tokens.user({ tenantId, id: 'admin', roles: ['admin'] });
  const { body } = await fixture.rest.get('/api/v1/audit/events', {
    bearer,
    tenant: tenantId,
    query: { type: 'audit.retention_applied' },
  });
  return body.events as readonly { readonly details: object; readonly actor_type: string }[];
};

/** Identity's event about an organization, under the tenant that was created with it. */
const organization = (tenantId: string, days: number) =>
  fixture.publish({
    source: 'identity',
    type: 'organization.updated',
    tenantId,
    streamId: `organization-${tenantId}`,
    data: {
      id: `organization-of-${tenantId}`,
      name: 'Example',
      audit_retention_days: days,
      created_at: NOW.toISOString(),
      changed: ['audit_retention_days'],
    },
  });

const secondTenant = (tenantId: string, home: string) =>
  fixture.publish({
    source: 'identity',
    type: 'tenant.created',
    tenantId,
    streamId: `tenant-${tenantId}`,
    data: {
      id: tenantId,
      organization_id: `organization-of-${home}`,
      name: 'Second',
      slug: 'second',
      display_name: 'Second',
      environment: 'development',
      approval_channels: [],
      created_at: NOW.toISOString(),
    },
  });

const heard = (tenantId: string) =>
  untilTrue(async () => {
    const found = await sql.query('SELECT FROM audit.retention WHERE tenant_id = $1', [tenantId]);
    return found.rowCount === 1;
  });

describe('audit 13 the clean-up of the audit log', () => {
  it.each([
    [1, 7],
    [7, 7],
    [90, 90],
    [365, 365],
    [1_000, 365],
    [undefined, 90],
  ])(
    'of an organization that wants %s days keeps %i, and tells what went once',
    async (wanted, kept) => {
      const tenantId = newTenant();
      if (wanted !== undefined) {
        await organization(tenantId, wanted);
        await heard(tenantId);
      }
      const old = [daysAgo(kept + 30), daysAgo(kept + 1), daysAgo(kept, -1)];
      const young = [daysAgo(kept), daysAgo(kept, 1), daysAgo(kept - 1), daysAgo(1)];
      await addRows(tenantId, [...old, ...young]);
      expect(await run()).toBe(true);
      expect(await timesOf(tenantId)).toEqual(young.map((time) => time.toISOString()));
      const told = await untilTrue(async () => {
        const rows = await removals(tenantId);
        return rows.length > 0 ? rows : undefined;
      });
      expect(told).toMatchObject([
        {
          actor_type: 'system',
          category: 'admin',
          action: 'delete',
          result: 'success',
          target_type: 'audit',
          details: { before: daysAgo(kept).toISOString(), rows: 3 },
        },
      ]);
      // No row exceeds a retention any more.
      await run();
      expect(await removals(tenantId)).toHaveLength(1);
    },
  );

  it('keeps the rows of a second tenant as its organization wants', async () => {
    const [home, second] = [newTenant(), newTenant()];
    await secondTenant(second, home);
    await heard(second);
    await organization(home, 10);
    await heard(home);
    await addRows(second, [daysAgo(11), daysAgo(9)]);
    await run();
    expect(await timesOf(second)).toEqual([daysAgo(9).toISOString()]);
  });

  it('goes in chunks, and leaves other tenants alone', async () => {
    const [one, other] = [newTenant(), newTenant()];
    await addRows(
      one,
      Array.from({ length: 20_001 }, (_, n) => daysAgo(100, n % 7_000)),
    );
    await addRows(other, [daysAgo(89)]);
    await run();
    expect(await timesOf(one)).toEqual([]);
    expect(await timesOf(other)).toHaveLength(1);
    const told = await untilTrue(async () => {
      const rows = await removals(one);
      return rows.length > 0 ? rows : undefined;
    });
    expect(told.map(({ details }) => details)).toMatchObject([{ rows: 20_001 }]);
  });

  it('tells what was removed before a crash', async () => {
    const tenantId = newTenant();
    await sql.query('INSERT INTO audit.removed_rows (tenant_id, before, rows) VALUES ($1, $2, 5)', [
      tenantId,
      daysAgo(91),
    ]);
    await run();
    await untilTrue(async () => (await removals(tenantId)).length === 1);
    const left = await sql.query('SELECT FROM audit.removed_rows');
    expect(left.rowCount).toBe(0);
  });

  it('drops the partitions that no tenant may keep, and no other', async () => {
    const tenantId = newTenant();
    await addRows(tenantId, [daysAgo(400), daysAgo(364)]);
    await run();
    const partitions = await sql.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits
       WHERE inhparent = 'audit.events'::regclass ORDER BY 1`,
    );
    const names = partitions.rows.map(({ name }) => name);
    const nameOf = (day: Date) =>
      `audit.events_${day.toISOString().slice(0, 10).replaceAll('-', '')}`;
    expect(names[0]).toBe(names.find((name) => name >= nameOf(daysAgo(366))));
    expect(names).toContain(nameOf(daysAgo(364)));
    await expect(
      fixture.shared.database.system.query('SELECT audit.drop_oldest_partition(current_date)'),
    ).rejects.toThrow();
  });
});

describe('R22 a row of the audit log', () => {
  const yesterday = new Date(Date.now() - DAY_MS);
  const longAgo = new Date(Date.now() - 8 * DAY_MS);
  const as = async (role: string, statement: string): Promise<number> => {
    await sql.query('BEGIN');
    try {
      await sql.query(`SET LOCAL ROLE ${role}`);
      return (await sql.query(statement)).rowCount ?? 0;
    } finally {
      await sql.query('ROLLBACK');
    }
  };
  let partition = '';
  let tenantId = '';
  beforeAll(async () => {
    tenantId = newTenant();
    await addRows(tenantId, [yesterday, longAgo]);
    partition = `audit.events_${longAgo.toISOString().slice(0, 10).replaceAll('-', '')}`;
  });

  it.each(['cardea_app', 'cardea_system', 'audit_reaper'])(
    'is neither changed nor swept away by %s',
    async (role) => {
      for (const table of ['audit.events', partition]) {
        await expect(as(role, `UPDATE ${table} SET type = type`)).rejects.toThrow();
        await expect(as(role, `TRUNCATE ${table}`)).rejects.toThrow();
      }
      await expect(as(role, `DELETE FROM ${partition}`)).rejects.toThrow();
    },
  );

  it.each(['cardea_app', 'cardea_system'])('is not removed by %s', async (role) => {
    await expect(as(role, 'DELETE FROM audit.events')).rejects.toThrow();
  });

  it('is removed by the reaper once it is a week old, and not before', async () => {
    const of = `DELETE FROM audit.events WHERE tenant_id = '${tenantId}'`;
    const old = `${of} AND ts < now() - interval '7 days'`;
    expect(await as('audit_reaper', old)).toBe(1);
    await expect(as('audit_reaper', of)).rejects.toThrow(/append-only/);
  });

  it.each([
    'SELECT details FROM audit.events',
    'INSERT INTO audit.events (tenant_id) VALUES (1)',
    'DELETE FROM audit.retention',
    'DELETE FROM audit.removed_rows',
    'DELETE FROM bus.records',
    'DELETE FROM eventstore.events',
    'SELECT audit.drop_oldest_partition(current_date - 400)',
  ])('and nothing else is the reaper allowed: %s', async (statement) => {
    await expect(as('audit_reaper', statement)).rejects.toThrow(/permission denied/);
  });
});

describe('audit 13 the daily clean-up', () => {
  it('runs by itself once a day from 03:00 UTC on, within the hour', async () => {
    const clock = fakeClock('2026-06-01T02:00:00Z');
    const { database: shared } = fixture.shared;
    const definition = { ...auditService };
    const needs = { ...fixture.host.needsOf('audit'), clock };
    const [loop] = definition.build(needs).loops;
    if (loop === undefined) throw new Error('no loop');
    await sql.query(`UPDATE audit.cleanup SET last_day = '2026-05-31'`);
    const tenantId = newTenant();
    await addRows(tenantId, [daysAgo(100)]);
    const lastDay = async () =>
      (
        await shared.system.query<{ day: string }>(
          'SELECT last_day::text AS day FROM audit.cleanup',
        )
      ).rows[0]?.day;
    const stopped = new AbortController();
    const running = loop.run(
      stopped.signal,
      () => undefined,
      () => undefined,
    );
    await clock.advance(HOUR_MS - 1_000);
    expect([await lastDay(), (await timesOf(tenantId)).length]).toEqual(['2026-05-31', 1]);
    for (let minute = 0; minute <= 61 && (await lastDay()) !== '2026-06-01'; minute += 1) {
      await clock.advance(60_000);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await untilTrue(async () => (await lastDay()) === '2026-06-01');
    expect(await timesOf(tenantId)).toEqual([]);
    await addRows(tenantId, [daysAgo(100)]);
    await clock.advance(12 * HOUR_MS);
    expect(await timesOf(tenantId)).toHaveLength(1);
    stopped.abort();
    await running;
  });
});
