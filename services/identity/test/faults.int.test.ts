import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { CacheUnavailable } from '@cardea/runtime';
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BOOTSTRAP_IDS } from '../src/accounts/bootstrap.ts';
import { type IdentityFixture, identityFixture, PASSWORD } from './identity-fixture.ts';

/** One database that is started repeatedly with the same secrets. */
const SECRETS = {
  JWT_SECRET: randomBytes(32).toString('hex'),
  ENCRYPTION_KEY: randomBytes(32).toString('hex'),
};
const start = (env: { readonly [name: string]: string } = {}, hold?: () => Promise<void>) =>
  identityFixture(database.url, { ...SECRETS, ...env }, hold);

const database = testDatabase();
let fixture: IdentityFixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

describe('passwords under load', () => {
  it('S10 of two hundred logins at once hash what fits, and turn the excess away in time', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let holding = false;
    const own = await start({ RATE_LIMIT_FACTOR: '10000', HASH_CONCURRENCY: '1' }, () =>
      holding ? held : Promise.resolve(),
    );
    fixture = own;
    const admin = await own.signUp();
    holding = true;
    const before = own.hashes();
    const logins = Array.from({ length: 200 }, (_, number) =>
      own.logIn({ tenantId: admin.tenantId, email: `client${number}@example.com` }),
    );
    const first = await Promise.race(logins);
    expect(`${first.status} ${first.code}`).toBe('503 overloaded');
    expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await own.as(admin).get('/api/v1/user/profile')).status).toBe(200);
    expect((await own.refresh(admin.refresh)).status).toBe(200);
    expect(own.hashes() - before).toBe(1);
    let turnedAway = 0;
    for (const login of logins) {
      void login.then(({ status }) => {
        turnedAway += status === 503 ? 1 : 0;
      });
    }
    await untilTrue(() => turnedAway === 199, { what: 'all but the one in hand turned away' });
    release();
    expect((await Promise.all(logins)).filter(({ status }) => status === 401)).toHaveLength(1);
  });

  it('identity 10 of a hundred wrong logins at once evaluate ten, with the cache away too', async () => {
    const own = await start({ RATE_LIMIT_FACTOR: '10000' });
    fixture = own;
    const admin = await own.signUp();
    const wrong = async (email: string) => {
      const before = own.hashes();
      const answers = await Promise.all(
        Array.from({ length: 100 }, () =>
          own.logIn({ tenantId: admin.tenantId, email }, 'wrong password'),
        ),
      );
      const codes = answers.map(({ code }) => code);
      return {
        hashes: own.hashes() - before,
        blocked: codes.filter((code) => code === 'too_many_attempts').length,
      };
    };
    expect(await wrong(admin.email)).toEqual({ hashes: 10, blocked: 90 });
    expect((await own.logIn(admin)).code).toBe('too_many_attempts');
    vi.spyOn(own.shared.cache, 'increment').mockRejectedValue(new CacheUnavailable('away'));
    vi.spyOn(own.shared.cache, 'get').mockRejectedValue(new CacheUnavailable('away'));
    expect(await wrong('nobody@example.com')).toEqual({ hashes: 10, blocked: 90 });
    vi.restoreAllMocks();
    own.clock.move(61_000);
    expect((await own.logIn(admin)).status).toBe(200);
  });
});

describe('mail', () => {
  it('identity 17 that cannot be sent holds nobody up, and is tried again', async () => {
    const refusing = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const { port } = refusing.address() as { port: number };
    const own = await start({ SMTP_URL: `smtp://127.0.0.1:${port}` });
    fixture = own;
    const admin = await own.signUp();
    expect((await own.rest.get('/dev/mailbox')).status).toBe(404);
    const { database: pool } = own.host.needsOf('identity');
    await untilTrue(async () => {
      const { rows } = await pool.asSystem((sql) =>
        sql.query(
          'SELECT 1 FROM identity.mail_queue WHERE tenant_id = $1 AND attempts = 1 AND due_at > $2',
          [admin.tenantId, own.clock.now()],
        ),
      );
      return rows.length === 1;
    });
    refusing.close();
  });

  it('identity 17 waits in the queue when the process dies before sending', async () => {
    const dead = await start({ SMTP_URL: 'smtp://127.0.0.1:1' });
    const admin = await dead.signUp();
    await dead.stop();
    const own = await start();
    fixture = own;
    own.clock.move(61_000);
    const { token } = await own.mail(admin.email, /Confirm/);
    expect((await own.rest.post('/api/v1/auth/verify-email', { token })).status).toBe(200);
  });

  it('identity 17 has no mailbox page in production', async () => {
    const own = await start({ ENV: 'production' });
    fixture = own;
    expect((await own.rest.get('/dev/mailbox')).status).toBe(404);
  });
});

describe('a start', () => {
  it('makes the administrator of the settings once', async () => {
    const admin = { ADMIN_EMAIL: 'admin@example.com', ADMIN_PASSWORD: PASSWORD };
    const first = await start(admin);
    const { tenantId } = BOOTSTRAP_IDS;
    const login = await first.logIn({ tenantId, email: admin.ADMIN_EMAIL });
    expect(login.body).toMatchObject({ user_id: BOOTSTRAP_IDS.userId, email_verified: true });
    const told = first.lines.find((line) => line.includes('the first administrator signs in'));
    expect(JSON.parse(told ?? '{}')).toMatchObject({ tenant_id: tenantId });
    const key = (await first.rest.get('/.well-known/jwks.json')).body.keys[0].kid;
    const head = await first.head();
    await first.stop();

    const again = await start(admin);
    fixture = again;
    expect(await again.head()).toBe(head);
    expect((await again.rest.get('/.well-known/jwks.json')).body.keys[0].kid).toBe(key);
    expect((await again.refresh(login.body.refresh_token)).status).toBe(200);
  });

  it('refuses the tokens of a closed account also when the cache has come back empty', async () => {
    const first = await start();
    const admin = await first.signUp();
    const bob = await first.register(admin.tenantId);
    await first.as(admin).patch(`/api/v1/admin/users/${bob.userId}`, { status: 'disabled' });
    await first.stop();
    const again = await start();
    fixture = again;
    expect((await again.as(bob).get('/api/v1/user/profile')).code).toBe('unauthenticated');
    expect((await again.as(admin).get('/api/v1/user/profile')).status).toBe(200);
  });
});
