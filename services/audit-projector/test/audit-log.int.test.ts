import { randomUUID } from 'node:crypto';
import { auditService } from '@cardea/audit-projector';
import { pageCookies } from '@cardea/pages';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const database = testDatabase();
let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: [auditService] });
});
afterAll(async () => {
  await fixture?.stop();
});

const PATH = '/api/v1/audit/events';
let tenants = 0;

/** A new tenant with its admin, and functions that cause events in it. */
function workspace() {
  tenants += 1;
  const tenantId = `tenant-${tenants}`;
  const bearer = fixture.tokens.user({ tenantId, id: `admin-${tenants}`, roles: ['admin'] });
  return {
    tenantId,
    rest: fixture.rest.as({ bearer, tenant: tenantId }),
    verified: (id: string, at?: Date) =>
      fixture.publish({
        source: 'identity',
        type: 'user.email_verified',
        tenantId,
        streamId: `user-${id}`,
        actor: { type: 'user', id },
        ...(at === undefined ? {} : { time: at.toISOString() }),
        data: {
          id,
          email: 'zoe@example.com',
          display_name: 'Zoë',
          email_verified: true,
          roles: ['member'],
          status: 'active',
          created_at: '2026-01-01T00:00:00.000Z',
          verified_at: '2026-01-01T00:00:00.000Z',
        },
      }),
  };
}

describe('the audit log', () => {
  it('audit 1 shows exactly the fields of the contract, and nothing of the person', async () => {
    const { rest, verified, tenantId } = workspace();
    await verified('u1');
    const { body, text } = await rest.get(PATH);
    expect(body).toEqual({
      count: 1,
      events: [
        {
          id: expect.any(String),
          tenant_id: tenantId,
          app_id: null,
          timestamp: expect.any(String),
          type: 'email.verified',
          category: 'auth',
          action: 'verify',
          result: 'success',
          actor_type: 'user',
          actor_id: 'u1',
          actor_agent_id: null,
          target_type: 'user',
          target_id: 'u1',
          source_ip: null,
          source_user_agent: null,
          source_geo_city: null,
          source_geo_country: null,
          details: {},
        },
      ],
    });
    expect(text).not.toMatch(/zoe@example|Zoë/);
  });

  it('audit 2 lists at once what was done just before', async () => {
    const { rest, verified } = workspace();
    for (let n = 1; n <= 20; n++) {
      await verified(`u${n}`);
      expect((await rest.get(PATH)).body.count).toBe(n);
    }
  });

  it('audit 8 makes a record that comes twice a row once', async () => {
    const { rest, tenantId } = workspace();
    const event = await fixture.publish({
      source: 'identity',
      type: 'session.revoked',
      tenantId,
      streamId: 'session-s1',
      data: { id: 's1', user_id: 'u1', reason: 'user' },
    });
    await fixture.publish(event);
    const { body } = await rest.get(PATH);
    expect(body.events.map(({ type }: { type: string }) => type)).toEqual(['session.revoked']);
  });

  it('audit 3 filters alone and combined, and pages as the contract says', async () => {
    const { rest, verified } = workspace();
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
    for (let n = 0; n < 6; n++) await verified(`u${n}`, at(n));
    const get = async (query: object) => (await rest.get(PATH, { query: { ...query } })).body;
    const from = at(2).toISOString();
    const to = at(4).toISOString();
    expect((await get({ from, to })).count).toBe(3);
    expect((await get({ from, to, actor_id: 'u3' })).count).toBe(1);
    expect((await get({ from: new Date(at(2).getTime() + 1).toISOString(), to })).count).toBe(2);
    expect(await get({ type: 'email.verified', limit: 2 })).not.toHaveProperty('offset');
    expect(await get({ category: 'auth', limit: 2 })).toMatchObject({
      count: 2,
      offset: 0,
      limit: 2,
    });
    expect((await get({ category: 'vault' })).events).toEqual([]);
    const newest = await get({ offset: 0, limit: 2 });
    expect(newest.events.map(({ actor_id }: { actor_id: string }) => actor_id)).toEqual([
      'u5',
      'u4',
    ]);
  });

  it.each([
    { limit: 0 },
    { limit: 1001 },
    { offset: -1 },
    { category: 'nonsense' },
    { from: 'yesterday' },
    { from: '2026-02-31T00:00:00Z' },
    { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' },
    { cursor: 'x', offset: 0 },
    { cursor: 'nonsense' },
    { colour: 'red' },
  ])('audit 3 answers 400 to %j', async (query) => {
    const { rest } = workspace();
    const answer = await rest.get(PATH, { query: { ...query } as never });
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
  });

  it.each([
    { from: '0000-01-01T00:00:00Z', to: '9999-12-31T23:59:59-23:00' },
    { from: '0001-01-01T00:00:00+23:00' },
  ])('audit 3 reads the first and the last moment that can be written: %j', async (query) => {
    const { rest, verified } = workspace();
    await verified('u1');
    expect((await rest.get(PATH, { query: { ...query } })).body.count).toBe(1);
    expect((await rest.get(`${PATH}.csv`, { query: { ...query } })).status).toBe(200);
  });

  it('audit 4 gives each row once by cursor while others arrive', async () => {
    const { rest, verified } = workspace();
    for (let n = 0; n < 30; n++) await verified(`u${n}`);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { events: { actor_id: string }[]; next_cursor: string | null } = (
        await rest.get(PATH, { query: { cursor, limit: 7 } })
      ).body;
      seen.push(...page.events.map(({ actor_id }) => actor_id));
      cursor = page.next_cursor;
      await verified('late');
    }
    const expected = Array.from({ length: 30 }, (_, n) => `u${n}`);
    expect(seen.filter((id) => id !== 'late').sort()).toEqual(expected.sort());
  });

  it('audit 5 exports the rows of the list as CSV, and records that it did', async () => {
    const { rest, verified } = workspace();
    // Rows of the same millisecond have no defined order.
    await verified('=cmd()', new Date('2026-01-01T00:00:01Z'));
    await verified('u2', new Date('2026-01-01T00:00:02Z'));
    const csv = await rest.get(`${PATH}.csv`);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.headers.get('content-disposition')).toContain('audit-events.csv');
    const lines = csv.text.split('\r\n');
    expect(lines).toHaveLength(4);
    expect(lines[2]).toContain(",'=cmd(),");
    const { body } = await rest.get(PATH, { query: { type: 'admin.audit.export' } });
    expect(body.events[0].details).toEqual({ format: 'csv', rows: 2, filters: [] });
  });

  it('audit 6 is closed to members, agents and API keys, and tells their admin', async () => {
    const { rest, tenantId } = workspace();
    const { tokens } = fixture;
    const bearers = [
      tokens.user({ tenantId, id: 'member' }),
      tokens.agent({ tenantId, id: 'agent', sessionId: 's' }),
      tokens.apiKey({ tenantId, scopes: ['fga:read'] }),
    ];
    for (const bearer of bearers) {
      const answer = await fixture.rest.get(PATH, { bearer, tenant: tenantId });
      expect([answer.status, answer.code]).toEqual([403, 'forbidden']);
    }
    // A refusal is answered after at most a quarter of a second, whether or not it was recorded by then.
    const body = await untilTrue(async () => {
      const { body: list } = await rest.get(PATH, { query: { type: 'admin.denied' } });
      return list.count >= 3 && list;
    });
    expect(body.count).toBe(3);
    expect(body.events[0].details).toEqual({
      operation: 'list_audit_events',
      reason: 'forbidden',
      status: 403,
    });
    for (const path of ['/api/v1/audit', `/api/v1/audit/${randomUUID()}`]) {
      expect((await rest.get(path)).status).toBe(404);
    }
  });

  it('audit 6 never shows a row of another tenant, with no filter of ours left either', async () => {
    const ours = workspace();
    const theirs = workspace();
    await theirs.verified('u1');
    await untilTrue(async () => (await theirs.rest.get(PATH)).body.count === 1);
    expect((await ours.rest.get(PATH)).body.count).toBe(0);
    const rows = await fixture.shared.database.asTenant(ours.tenantId, (sql) =>
      sql.query('SELECT * FROM audit.events'),
    );
    expect(rows.rows).toEqual([]);
  });

  it.each([
    'UPDATE audit.events SET type = type',
    'DELETE FROM audit.events',
    'TRUNCATE audit.events',
  ])('audit 9 refuses %s', async (statement) => {
    const { verified, rest, tenantId } = workspace();
    await verified('u1');
    await untilTrue(async () => (await rest.get(PATH)).body.count === 1);
    const { database: db } = fixture.shared;
    await expect(db.asSystem((sql) => sql.query(statement))).rejects.toThrow();
    await expect(db.asTenant(tenantId, (sql) => sql.query(statement))).rejects.toThrow();
  });
});

describe('identity 31 what the log says about a person', () => {
  it('is theirs to see: what they did, and what was done with them, without where others were', async () => {
    const { tenantId, verified, rest } = workspace();
    await verified('zoe');
    await verified('eve');
    await fixture.publish({
      source: 'identity',
      type: 'user.impersonated',
      tenantId,
      streamId: 'user-zoe',
      actor: { type: 'admin', id: 'boss' },
      data: { id: 'zoe', admin_id: 'boss', reason: 'ticket' },
    });
    await rest.get(PATH);
    const as = (id: string) =>
      fixture.rest.as({ bearer: fixture.tokens.user({ tenantId, id }), tenant: tenantId });
    const path = '/api/v1/me/activity';
    const first = await as('zoe').get(path, { query: { limit: '1' } });
    expect(first.status, first.text).toBe(200);
    const { next_cursor: cursor } = first.body;
    const second = await as('zoe').get(path, { query: { limit: '1', cursor } });
    const rows = [...first.body.events, ...second.body.events];
    expect(rows.map(({ type }: { type: string }) => type).toSorted()).toEqual([
      'admin.user.impersonate',
      'email.verified',
    ]);
    const byOthers = rows.find(({ actor_id }: { actor_id: string }) => actor_id === 'boss');
    expect(byOthers).toMatchObject({ source_ip: null, source_user_agent: null });
    expect((await as('eve').get(path)).body.events).toHaveLength(1);
    expect((await as('nobody').get(path)).body).toEqual({ events: [], next_cursor: null });
    expect((await as('zoe').get(path, { query: { cursor: 'x' } })).status).toBe(400);
  });

  it('is a page of their account, whose first rows other pages show', async () => {
    const { tenantId, verified, rest } = workspace();
    await verified('zoe');
    await rest.get(PATH);
    const cookies = pageCookies(fixture.host.needsOf('audit').pageKeys, fixture.settings);
    const shownTo = async (id: string, path: string, language: string) => {
      const [cookie = ''] = cookies
        .written(cookies.begun(fixture.tokens.user({ tenantId, id })))
        .split(';');
      const headers = { cookie, accept: 'text/html', 'accept-language': language };
      const answer = await fetch(fixture.baseUrl + path, { headers });
      expect(answer.status).toBe(200);
      return answer.text();
    };
    for (const path of ['/account/activity', '/account/activity?part=recent']) {
      const page = await shownTo('zoe', path, 'en');
      expect(page).toContain('email.verified');
      expect(page).toContain('you');
      expect(await shownTo('zoe', path, 'de')).toContain('Anmeldung und Konto');
      expect(await shownTo('eve', path, 'en')).toContain('Nothing is recorded about you yet.');
    }
    const stranger = await fetch(`${fixture.baseUrl}/account/activity`, { redirect: 'manual' });
    expect(stranger.headers.get('location')).toBe(
      '/account/sign-in?return_to=%2Faccount%2Factivity',
    );
  });
});
