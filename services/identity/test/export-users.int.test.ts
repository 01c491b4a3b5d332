/** Administrators export all users of their tenant as JSON lines. */
import { expect, it } from 'vitest';
import type { Account } from './identity-fixture.ts';
import { oauthOfFile } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const EXPORT = '/api/v1/admin/users/export';
/** More users than two pages contain. */
const MANY = 4_200;

const exported = (account: Account) => fixture.as(account).get(EXPORT);
const exportsBy = async (account: Account) =>
  (await fixture.eventsSince(0n)).filter(
    ({ type, metadata: { tenantId } }) => type === 'UsersExported' && tenantId === account.tenantId,
  );

const ODD_NAMES = [
  ...[
    'plain',
    'tab\tline\nbreak\r',
    'a "quoted" \\N name',
    '\u0001\u000b\u001f\u007f',
    "O'Neill, {a,b}",
  ],
  ...['Zoë 🌍 \u2028', '<b>&amp;</b>', ' '],
];
const ODD_ROLES = [['member'], ['a,b', 'c"d', 'e\\f', 'NULL'], [], ['{x}', ' y ']];

/** Inserts users into the table only. Several have the same time of creation. */
const fill = (tenantId: string) =>
  fixture.host.needsOf('identity').database.system.query(
    `INSERT INTO identity.users (id, tenant_id, email, email_verified, address_from, display_name, roles, vouched,
       status, has_password, mfa_enabled, identities, epoch, created_at, updated_at, locked_until, last_login_at,
       avatar_url, locale, preferred_username)
     SELECT $1 || '-' || n, $1, nullif(n, 7) || '@many.example', n % 2 = 0, 'proof',
       ($3::text[])[n % (cardinality($3::text[]) + 1)],
       ARRAY(SELECT json_array_elements_text($4::json -> n % json_array_length($4::json))), n % 3 = 0,
       CASE n % 5 WHEN 0 THEN 'disabled' ELSE 'active' END, true, n % 7 = 0,
       ARRAY(SELECT json_array_elements_text($4::json -> n % 3)), 0,
       date_trunc('second', now()) - n / 700 * interval '1 second',
       now() - n * interval '1 ms', now() + (n % 4 - 2) * interval '1 hour',
       CASE n % 3 WHEN 0 THEN NULL ELSE timestamptz '2026-02-28T23:59:59Z' + n * interval '1 ms' END,
       CASE n % 2 WHEN 0 THEN 'https://pictures.example/?a="' || n END, CASE n % 2 WHEN 0 THEN 'de-CH' END,
       ($3::text[])[n % 3]
     FROM generate_series(1, $2::integer) AS n`,
    [tenantId, MANY, ODD_NAMES, JSON.stringify(ODD_ROLES)],
  );

it('standards 9 an export has each user of the tenant once, as the list shows them', async () => {
  const owner = await fixture.signUp();
  await fixture.register(owner.tenantId);
  await fill(owner.tenantId);
  await fixture.register(admin.tenantId);
  const answer = await exported(owner);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const list = [];
  for (let offset = 0; offset < MANY + 2; offset += 1_000) {
    const { body } = await fixture.as(owner).get(`/api/v1/admin/users?limit=1000&offset=${offset}`);
    list.push(...body.users);
  }
  const expected = [...list, { end: true, count: MANY + 2 }];
  expect(answer.text.split('\n')).toEqual([...expected.map((line) => JSON.stringify(line)), '']);
});

it('standards 9 an export is recorded with its caller and the number of users', async () => {
  const owner = await fixture.signUp();
  await exported(owner);
  const events = await exportsBy(owner);
  expect(events.map(({ data, metadata }) => [data, metadata.actor])).toEqual([
    [{ rows: 1 }, { type: 'admin', id: owner.userId }],
  ]);
});

it('standards 9 an export is for administrators and keys that read users', async () => {
  const member = await fixture.register(admin.tenantId);
  const before = (await exportsBy(admin)).length;
  const refused = await exported(member);
  expect(`${refused.status} ${refused.code}`).toBe('403 forbidden');
  for (const [scope, status] of [
    ['users:read', 200],
    ['agents:read', 403],
  ] as const) {
    const { body } = await fixture.as(admin).post('/api/v1/api-keys', {
      ...{ name: 'export', scopes: [scope] },
    });
    const answer = await fixture.rest.get(EXPORT, { bearer: body.key, tenant: admin.tenantId });
    expect([scope, answer.status]).toEqual([scope, status]);
  }
  expect((await exportsBy(admin)).length).toBe(before + 1);
});
