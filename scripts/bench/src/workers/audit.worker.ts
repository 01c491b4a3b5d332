/** The audit projector in a process of its own, over a log that was filled before. */
import { auditService } from '@cardea/audit-projector';
import { serviceFixture } from '@cardea/testing';

const TENANT = 'bench';
const DAYS = 30;
const FROM = new Date(Date.UTC(2026, 0, 10)).toISOString();
const TO = new Date(Date.UTC(2026, 0, 20)).toISOString();
const TYPE = 'type.7';

const [databaseUrl = '', rows = '10000'] = process.argv.slice(2);
const fixture = await serviceFixture({ databaseUrl, definitions: [auditService] });
process.on('disconnect', () => process.exit(0));

const { database } = fixture.shared;
await database.asSystem(async (sql) => {
  for (let day = 1; day <= DAYS; day++) {
    await sql.query('SELECT audit.make_partition($1::date)', [
      `2026-01-${String(day).padStart(2, '0')}`,
    ]);
  }
});
const CHUNK = 50_000;
for (let first = 0; first < Number(rows); first += CHUNK) {
  await database.asSystem((sql) =>
    sql.query(
      `INSERT INTO audit.events (tenant_id, ts, id, type, category, action, result, actor_type,
         actor_id, target_type, target_id, details)
       SELECT $1, timestamptz '2026-01-01Z' + n * (interval '${DAYS} days' / $2::int),
         gen_random_uuid(), 'type.' || n % 20, 'auth', 'login', 'success', 'user',
         'user-' || n % 1000, 'session', 'session-' || n, '{"method":"password"}'
       FROM generate_series($3::int, $4::int) AS n`,
      [TENANT, Number(rows), first, Math.min(first + CHUNK, Number(rows)) - 1],
    ),
  );
}

const bearer = fixture.tokens.user({ tenantId: TENANT, id: 'admin', roles: ['admin'] });
const query = new URLSearchParams({ type: TYPE, from: FROM, to: TO, limit: '100' });
process.send?.({
  origin: fixture.baseUrl,
  path: `/api/v1/audit/events?${query}`,
  headers: { authorization: `Bearer ${bearer}`, 'x-service-tenant': TENANT },
  query: JSON.stringify({
    text: `SELECT id, tenant_id, app_id, ts AS "timestamp", type, category, action, result,
        actor_type, actor_id, actor_agent_id, target_type, target_id, source_ip,
        source_user_agent, source_geo_city, source_geo_country, details
      FROM audit.events
      WHERE tenant_id = $1 AND type = $2 AND ts >= $3 AND ts <= $4
      ORDER BY ts DESC, id DESC LIMIT $5`,
    values: [TENANT, TYPE, FROM, TO, 100],
  }),
});
