import { testDatabase, untilTrue } from '@cardea/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IdentityFixture, identityFixture } from './identity-fixture.ts';

const database = testDatabase();
let fixture: IdentityFixture;
beforeAll(async () => {
  fixture = await identityFixture(database.url);
});
afterAll(async () => {
  await fixture?.stop();
});

const forms = (secret: string) => [
  secret,
  Buffer.from(secret).toString('base64'),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
  encodeURIComponent(secret),
];

/** Every row of every table of every schema, as text. */
async function everything(): Promise<string> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const { rows: tables } = await client.query(
      `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
       WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query(`SELECT t::text AS row FROM ${name} t`);
      texts.push(...rows.map(({ row }) => `${name} ${row}`));
    }
    return texts.join('\n');
  } finally {
    await client.end();
  }
}

describe('what is kept', () => {
  it('identity 16 shows no password, token or code in events, tables, topics, cache or logs', async () => {
    const admin = await fixture.signUp();
    const bob = await fixture.register(admin.tenantId);
    const verify = await fixture.mail(bob.email, /Confirm/);
    await fixture.as(bob).post('/api/v1/auth/verify-email', { token: verify.token });
    const canaries = ['canary password one', 'canary password two', 'canary wrong password'];
    const [first = '', second = '', wrong = ''] = canaries;
    const set = { current_password: 'correct horse battery', new_password: first };
    await fixture.as(bob).post('/api/v1/user/change-password', set);
    await fixture.logIn(bob, wrong);
    const login = (await fixture.logIn(bob, first)).body;
    const refreshed = (await fixture.refresh(login.refresh_token)).body;
    await fixture.refresh(login.refresh_token);
    const { tenantId: tenant, email } = bob;
    await fixture.rest.post('/api/v1/auth/forgot-password', { email }, { tenant });
    const reset = await fixture.mail(email, /password/);
    const renew = { token: reset.token, new_password: second };
    expect((await fixture.rest.post('/api/v1/auth/reset-password', renew)).status).toBe(200);

    const head = await fixture.head();
    await untilTrue(
      async () => BigInt((await fixture.shared.cache.get('relay:identity')) ?? 0) >= head,
    );
    const secrets = [
      ...canaries,
      verify.token.split('.')[1] ?? '',
      reset.token.split('.')[1] ?? '',
      ...[login, refreshed].flatMap(({ access_token, refresh_token }) => [
        access_token.split('.')[2],
        refresh_token.split('.')[2],
      ]),
      fixture.settings.JWT_SECRET.reveal(),
      fixture.settings.ENCRYPTION_KEY.reveal(),
    ];
    const kept = `${await everything()}\n${fixture.lines.join('\n')}`;
    expect(kept).toContain(bob.userId);
    const found = secrets.filter((secret) => forms(secret).some((form) => kept.includes(form)));
    expect(found).toEqual([]);
    expect(fixture.lines.join('\n')).not.toContain(email);
  });
});
