import { describe, expect, it } from 'vitest';
import { identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture, admin } = identityOfFile({
  RATE_LIMIT_FACTOR: '1',
  TRUSTED_PROXIES: '127.0.0.1/32',
  HASH_CONCURRENCY: '4',
});

type Try = (ip: string, number: number) => Promise<{ readonly status: number }>;
const from = (ip: string) => ({ tenant: admin.tenantId, headers: { 'x-forwarded-for': ip } });

const tokenMiss: Try = (ip) =>
  fixture.rest.post('/api/v1/auth/verify-email', { token: 'nobody.s' }, from(ip));
const keyMiss =
  (key: string): Try =>
  (ip) =>
    fixture.rest.get('/api/v1/admin/users', { ...from(ip), bearer: key });

/** Each limit by address, the number of attempts that one network may make, and how to make one. */
const LIMITED: readonly { readonly what: string; readonly limit: number; readonly attempt: Try }[] =
  [
    {
      what: 'failed logins',
      limit: 50,
      attempt: (ip, number) =>
        fixture.rest.post(
          '/api/v1/auth/login',
          { email: `nobody${number}.${ip.replaceAll(':', '-')}@example.com`, password: PASSWORD },
          from(ip),
        ),
    },
    {
      what: 'registrations',
      limit: 20,
      attempt: (ip) =>
        fixture.rest.post(
          '/api/v1/auth/register',
          { email: 'one@example.com', password: PASSWORD },
          from(ip),
        ),
    },
    {
      what: 'mails',
      limit: 30,
      attempt: (ip, number) =>
        fixture.rest.post(
          '/api/v1/auth/forgot-password',
          { email: `somebody${number}@example.com` },
          from(ip),
        ),
    },
    { what: 'wrong one-time tokens', limit: 30, attempt: tokenMiss },
    ...[
      { path: 'magic-link/verify', body: { token: 'nobody.s' } },
      { path: 'invitations/accept', body: { token: 'nobody.s', password: PASSWORD } },
      { path: 'reset-password', body: { token: 'nobody.s', new_password: PASSWORD } },
      { path: 'social/exchange', body: { code: 'nobody.s' } },
    ].map(({ path, body }) => ({
      what: `dead secrets at ${path}`,
      limit: 30,
      attempt: (ip: string) => fixture.rest.post(`/api/v1/auth/${path}`, body, from(ip)),
    })),
    {
      what: 'wrong mailed codes',
      limit: 20,
      attempt: (ip, number) =>
        fixture.rest.post(
          '/api/v1/auth/otp/verify',
          { email: `coded${number}@example.com`, code: 'K7QF3MXP' },
          from(ip),
        ),
    },
    {
      what: 'wrong refresh tokens',
      limit: 60,
      attempt: (ip) =>
        fixture.rest.post('/api/v1/auth/refresh', { refresh_token: 'rt_' }, from(ip)),
    },
    { what: 'wrong API keys', limit: 60, attempt: (ip) => keyMiss('svc_live_no')(ip, 0) },
    { what: 'wrong agent keys', limit: 60, attempt: (ip) => keyMiss('agk_live_no')(ip, 0) },
  ];

/**
 * Makes attempts one after another, each from the next address. Counts those that were processed and those that were
 * refused.
 */
async function tried(attempt: Try, addresses: readonly string[]) {
  let judged = 0;
  let limited = 0;
  for (const [number, ip] of addresses.entries()) {
    const { status } = await attempt(ip, number);
    if (status === 429) limited += 1;
    else judged += 1;
  }
  return { judged, limited };
}

const hosts = (network: string, count: number) =>
  Array.from({ length: count }, (_, number) => `${network}:0:0:${(number + 1).toString(16)}:1`);

let networks = 0;
/** A /48 network that no other test has used. */
const freshNetwork = () => {
  networks += 1;
  return `2001:db8:${networks.toString(16)}`;
};

describe('a limit by address', () => {
  it.each(LIMITED)(
    'S9 counts $what of one /64 as one address, however it is rotated',
    async ({ limit, attempt }) => {
      const network = `${freshNetwork()}:1`;
      expect(await tried(attempt, hosts(network, limit + 15))).toEqual({
        judged: limit,
        limited: 15,
      });
    },
  );

  it('S9 stops 120 wrong tokens of one /64 at 30, and lets the next network be', async () => {
    const network = freshNetwork();
    const tries = await tried(tokenMiss, hosts(`${network}:1`, 120));
    expect(tries).toEqual({ judged: 30, limited: 90 });
    expect(await tried(tokenMiss, hosts(`${network}:2`, 1))).toEqual({ judged: 1, limited: 0 });
  });

  it('S9 lets the /64s of one /48 have eight times as much together', async () => {
    const network = freshNetwork();
    const addresses = Array.from(
      { length: 12 * 30 },
      (_, number) => `${network}:${(number % 12).toString(16)}::${number.toString(16)}`,
    );
    expect(await tried(tokenMiss, addresses)).toEqual({ judged: 240, limited: 120 });
    expect(await tried(tokenMiss, hosts(`${network}:ff`, 1))).toEqual({ judged: 0, limited: 1 });
  });

  it('S9 charges what one /64 had refused to that network alone', async () => {
    const network = freshNetwork();
    await tried(tokenMiss, hosts(`${network}:1`, 300));
    expect(await tried(tokenMiss, hosts(`${network}:2`, 31))).toEqual({ judged: 30, limited: 1 });
  });

  it('S9 takes an IPv4 address in IPv6 form for the IPv4 address', async () => {
    const written = ['198.51.100.7', '::ffff:198.51.100.7', '::ffff:c633:6407'];
    const addresses = Array.from({ length: 33 }, (_, number) => written[number % 3] as string);
    expect(await tried(tokenMiss, addresses)).toEqual({ judged: 30, limited: 3 });
    expect(await tried(tokenMiss, ['198.51.100.8'])).toEqual({ judged: 1, limited: 0 });
  });

  it('S9 of a hundred tries at once judges no more than the limit', async () => {
    const network = `${freshNetwork()}:1`;
    const answers = await Promise.all(
      hosts(network, 100).map((ip) => keyMiss('svc_live_no')(ip, 0)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(60);
  });
});

describe('mail that strangers ask for', () => {
  const forgot = (email: string, ip: string) =>
    fixture.rest.post('/api/v1/auth/forgot-password', { email }, from(ip));

  it('P6 uses up neither what the person nor what an administrator may ask for', async () => {
    const bob = await fixture.register(admin.tenantId);
    const home = '198.51.100.77';
    const login = { email: bob.email, password: PASSWORD };
    expect((await fixture.rest.post('/api/v1/auth/login', login, from(home))).status).toBe(200);
    const statuses: number[] = [];
    for (let stranger = 0; stranger < 40; stranger += 1) {
      statuses.push((await forgot(bob.email, `203.0.${stranger}.1`)).status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(30);
    expect((await forgot(bob.email, '203.1.0.1')).status).toBe(429);
    expect((await forgot(bob.email, home)).status).toBe(200);
    const path = `/api/v1/admin/users/${bob.userId}`;
    expect((await fixture.as(admin).post(`${path}/reset-password`, {})).status).toBe(200);
    expect((await fixture.as(bob).post('/api/v1/auth/resend-verification', {})).status).toBe(200);
    expect((await fixture.as(admin).post(`${path}/unlock`, {})).status).toBe(200);
    expect((await forgot(bob.email, '203.1.0.1')).status).toBe(200);
  });

  it('P6 voids no code of theirs, nor do five guesses at it', async () => {
    await fixture.setTenant(admin.tenantId, { otp: { format: 'digits6' } });
    const bob = await fixture.register(admin.tenantId);
    const send = (ip: string) =>
      fixture.rest.post('/api/v1/auth/otp/send', { email: bob.email }, from(ip));
    const verify = (body: object, ip: string) =>
      fixture.rest.post('/api/v1/auth/otp/verify', body, from(ip));
    const sent = await send('198.51.100.91');
    const mail = (await fixture.mail(bob.email, /code/)) as unknown as { readonly code: string };
    const theirs = await send('203.2.0.1');
    for (let guess = 0; guess < 8; guess += 1) {
      const code = `${(Number(mail.code) + guess + 1) % 1_000_000}`.padStart(6, '0');
      await verify({ code, email: bob.email }, '203.2.1.1');
      await verify({ code, challenge_id: theirs.body.challenge_id }, '203.2.2.1');
    }
    const own = { code: mail.code, challenge_id: sent.body.challenge_id };
    expect((await verify(own, '198.51.100.92')).status).toBe(200);
  });
});
