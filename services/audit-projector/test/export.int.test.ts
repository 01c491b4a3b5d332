import { type IncomingMessage, request } from 'node:http';
import { auditService } from '@cardea/audit-projector';
import { type Clock, systemClock } from '@cardea/runtime';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const database = testDatabase();
let fixture: ServiceFixture;
let sql: Client;
const logged: string[] = [];
/** The time that an export may take. The test of that limit shortens it. */
let exportMs: number | undefined;
const FIVE_MINUTES_MS = 5 * 60_000;
const clock: Clock = {
  ...systemClock,
  after: (ms, callback) =>
    systemClock.after(ms === FIVE_MINUTES_MS ? (exportMs ?? ms) : ms, callback),
};
beforeAll(async () => {
  fixture = await serviceFixture({
    databaseUrl: database.url,
    definitions: [auditService],
    clock,
    onLog: (line) => logged.push(line),
  });
  sql = new Client({ connectionString: database.url });
  await sql.connect();
  for (const day of ['2026-01-01', '2026-01-02']) {
    await sql.query('SELECT audit.make_partition($1::date)', [day]);
  }
});
afterAll(async () => {
  await sql?.end();
  await fixture?.stop();
});

const JSON_PATH = '/api/v1/audit/events';
const CSV_PATH = '/api/v1/audit/events.csv';
const COLUMNS = [
  'id',
  'timestamp',
  'type',
  'category',
  'action',
  'result',
  'actor_type',
  'actor_id',
  'target_type',
  'target_id',
  'source_ip',
  'source_user_agent',
];
const AGENTS = ['a,b', 'a"b', 'a\nb', 'a\r\nb', 'zoë 🦊', 'plain', null];
const FORMULAS = ['=x', '+x', '-x', '@x', '\tx', '\rx', '\nx', '＝x', '＋x', '－x', '＠x'];
let tenants = 0;

/** A new tenant with this number of rows, several of them in each millisecond. */
async function tenantWith(rows: number, longText = '') {
  tenants += 1;
  const tenantId = `tenant-${tenants}`;
  await sql.query(
    `INSERT INTO audit.events (tenant_id, ts, id, type, category, action, result, actor_type,
       actor_id, target_type, target_id, source_user_agent, details)
     SELECT $1, timestamptz '2026-01-01T23:59:59Z' + (n / 3) * interval '1 ms', gen_random_uuid(),
       'login.success', 'auth', 'login', 'success', 'user',
       ($3::text[])[1 + n % cardinality($3::text[])], 'session', $5 || n,
       ($4::text[])[1 + n % cardinality($4::text[])], '{}'
     FROM generate_series(1, $2::int) AS n`,
    [tenantId, rows, FORMULAS, AGENTS, longText],
  );
  const bearer = fixture.tokens.user({ tenantId, id: 'admin', roles: ['admin'] });
  return { tenantId, bearer, rest: fixture.rest.as({ bearer, tenant: tenantId }) };
}

/** Parses RFC 4180, independently of the code that wrote the file. */
function parsed(csv: string): string[][] {
  const rows: string[][] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  let row: string[] = [];
  while (cell.lastIndex < csv.length) {
    const [, quoted, plain = '', end] = cell.exec(csv) ?? [];
    if (end === undefined) throw new Error('not of the form of RFC 4180');
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

type Shown = { readonly [column: string]: string | null };

describe('audit 5 the export', () => {
  it('holds 10,000 of 10,001 rows, each once and equal to the list', async () => {
    const { rest } = await tenantWith(10_001);
    const csv = await rest.get(CSV_PATH, { query: { limit: 20_000 } });
    const [header, ...lines] = parsed(csv.text);
    expect(header).toEqual(COLUMNS);
    const expected: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null && expected.length < 10_000; ) {
      const page: { events: Shown[]; next_cursor: string | null } = (
        await rest.get(JSON_PATH, { query: { type: 'login.success', limit: 1000, cursor } })
      ).body;
      const cells = page.events.map((event) => COLUMNS.map((name) => event[name] ?? ''));
      expected.push(
        ...cells.map((row) => row.map((text) => text.replace(/^(?=[=+\-@\t\r\n＝＋－＠])/, "'"))),
      );
      cursor = page.next_cursor;
    }
    expect(lines).toEqual(expected.slice(0, 10_000));
    expect(new Set(lines.map(([id]) => id)).size).toBe(10_000);
  });

  it('is a header alone where there is no row', async () => {
    const { rest } = await tenantWith(0);
    expect((await rest.get(CSV_PATH)).text).toBe(`${COLUMNS.join(',')}\r\n`);
  });

  it('keeps to its filters and its limit on every page', async () => {
    const { rest } = await tenantWith(1_200);
    const query = { actor_id: '=x', to: '2026-01-02T00:00:00Z' };
    const listed = (await rest.get(JSON_PATH, { query: { ...query, limit: 1000 } })).body.events;
    const ids = (csv: string) =>
      parsed(csv)
        .slice(1)
        .map(([id]) => id);
    const all = ids((await rest.get(CSV_PATH, { query })).text);
    expect(all).toEqual(listed.map(({ id }: Shown) => id));
    const some = ids((await rest.get(CSV_PATH, { query: { limit: 701 } })).text);
    expect(some).toHaveLength(701);
  });

  it('reads no further page once the client is gone', async () => {
    const tenant = await tenantWith(10_000, 's'.repeat(2_000));
    const reads = vi.spyOn(fixture.shared.database, 'asTenant');
    try {
      const answer = await beginExport(tenant);
      await untilStill(() => reads.mock.calls.length);
      const before = reads.mock.calls.length;
      expect(before).toBeLessThan(20);
      answer.destroy();
      await untilStill(() => reads.mock.calls.length);
      expect(reads.mock.calls.length).toBe(before);
    } finally {
      reads.mockRestore();
    }
  });

  it('loses its socket after five minutes, so that no cut file looks whole', async () => {
    const tenant = await tenantWith(10_000, 's'.repeat(2_000));
    exportMs = 500;
    try {
      const answer = await beginExport(tenant);
      const ended = new Promise<string>((resolve) => {
        answer.once('end', () => resolve('whole'));
        answer.once('error', () => resolve('cut'));
      });
      await untilTrue(() => logged.some((line) => line.includes('took too long')));
      answer.resume();
      expect(await ended).toBe('cut');
    } finally {
      exportMs = undefined;
    }
    expect((await tenant.rest.get(CSV_PATH)).status).toBe(200);
  });

  it('runs twice at once for a tenant, and is refused a third time with 429', async () => {
    const [one, other] = [await tenantWith(10_000, 's'.repeat(2_000)), await tenantWith(10)];
    const begun = [await beginExport(one), await beginExport(one)];
    const third = await one.rest.get(CSV_PATH);
    expect([third.status, third.code]).toEqual([429, 'rate_limited']);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await other.rest.get(CSV_PATH)).status).toBe(200);
    for (const each of begun) each.destroy();
    await untilTrue(async () => (await one.rest.get(CSV_PATH)).status === 200);
  });
});

/** Resolves with the first bytes of an export and reads no more. */
const beginExport = (of: { tenantId: string; bearer: string }): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${of.bearer}`, 'x-service-tenant': of.tenantId };
    const asked = request(new URL(CSV_PATH, fixture.baseUrl), { headers }, (answer) => {
      answer.on('error', () => {});
      answer.once('readable', () => resolve(answer));
    });
    asked.on('error', reject);
    asked.end();
  });

/** Waits until a count has not changed for half a second. */
async function untilStill(count: () => number): Promise<void> {
  let last = -1;
  while (last !== count()) {
    last = count();
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
