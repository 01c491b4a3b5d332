import { describe, expect, it } from 'vitest';
import { type IdentityFixture, identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture, admin } = identityOfFile();

type Cost = { answer: string; hashes: number; appends: number };

/** The response and the cost of a call. Mail is sent after the response and is not counted. */
async function costOf(call: () => ReturnType<IdentityFixture['logIn']>): Promise<Cost> {
  await quiet();
  const [hashes, position] = [fixture.hashes(), await fixture.head()];
  const { status, body, headers } = await call();
  const shape = body.error === undefined ? Object.keys(body).sort() : body.error.code;
  const names = [...headers.keys()].sort();
  const events = await fixture.eventsSince(position);
  const own = events.filter(({ type }) => !['Issued', 'MailSettled'].includes(type));
  return {
    answer: JSON.stringify([status, shape, names]),
    hashes: fixture.hashes() - hashes,
    appends: new Set(own.map(({ streamId, time, id }) => `${streamId} ${time.getTime()} ${id}`))
      .size,
  };
}

/** Waits until no mail is pending, so that all new events belong to the call. */
async function quiet(): Promise<void> {
  const { database: pool } = fixture.host.needsOf('identity');
  const { untilTrue } = await import('@cardea/testing');
  await untilTrue(async () => {
    const { rows } = await pool.asSystem((sql) => sql.query('SELECT 1 FROM identity.mail_queue'));
    return rows.length === 0;
  });
}

describe('whoever asks about an address', () => {
  it('S8 identity 3 learns nothing from a login: unknown, wrong and disabled cost and look the same', async () => {
    const known = await fixture.register(admin.tenantId);
    const disabled = await fixture.register(admin.tenantId);
    await fixture.as(admin).patch(`/api/v1/admin/users/${disabled.userId}`, { status: 'disabled' });
    const noPassword = 'no.password@example.com';
    await fixture.as(admin).post('/api/v1/admin/users', { email: noPassword });
    const { tenantId } = admin;
    const costs = [
      await costOf(() =>
        fixture.logIn({ tenantId, email: 'nobody@example.com' }, 'wrong password'),
      ),
      await costOf(() => fixture.logIn(known, 'wrong password')),
      await costOf(() => fixture.logIn(disabled, PASSWORD)),
      await costOf(() => fixture.logIn({ tenantId, email: noPassword }, 'wrong password')),
    ];
    expect(costs[0]).toMatchObject({ hashes: 1, appends: 1 });
    for (const cost of costs) expect(cost).toEqual(costs[0]);
  });

  it('S8 identity 3 learns nothing from asking for a new password', async () => {
    const known = await fixture.register(admin.tenantId);
    const ask = (email: string) => () =>
      fixture.rest.post('/api/v1/auth/forgot-password', { email }, { tenant: admin.tenantId });
    const unknown = await costOf(ask('nobody@example.com'));
    expect(await costOf(ask(known.email))).toEqual(unknown);
    expect(unknown).toMatchObject({ hashes: 0, appends: 1 });
  });

  it('S8 costs the same to register, whether the address is new or taken', async () => {
    const known = await fixture.register(admin.tenantId);
    const register = (email: string) => () =>
      fixture.rest.post(
        '/api/v1/auth/register',
        { email, password: PASSWORD },
        { tenant: admin.tenantId },
      );
    const fresh = await costOf(register('fresh@example.com'));
    const taken = await costOf(register(known.email));
    // A new user makes two events in one append: registered and password set.
    expect(taken).toMatchObject({ hashes: fresh.hashes, appends: fresh.appends - 1 });
    const again = await fixture.rest.post(
      '/api/v1/auth/register',
      { email: known.email, password: PASSWORD },
      { tenant: admin.tenantId },
    );
    expect(again).toMatchObject({
      status: 201,
      body: { status: 'check your email to complete registration', user_id: '' },
    });
    expect((await fixture.mail(known.email, /already have an account/)).link).toBeNull();
  });

  it('S8 costs the same to sign up, whether the address is new or taken', async () => {
    const known = await fixture.signUp();
    const signUp = (email: string) => () =>
      fixture.rest.post('/api/v1/auth/signup', { email, password: PASSWORD, company_name: 'Acme' });
    const fresh = await costOf(signUp('fresh.signup@example.com'));
    const taken = await costOf(signUp(known.email));
    expect(taken).toMatchObject({ hashes: fresh.hashes, appends: fresh.appends - 1 });
    const again = await signUp(known.email)();
    expect(again).toMatchObject({ status: 201 });
    expect(again.body.access_token).toBeUndefined();
  });

  it('P5 S8 a sign-up with the address of a member elsewhere costs and answers as one with that of an earlier sign-up', async () => {
    const owner = await fixture.signUp();
    const signUp = (email: string) => () =>
      fixture.rest.post('/api/v1/auth/signup', { email, password: PASSWORD, company_name: 'Acme' });
    const fresh = await fixture.register(admin.tenantId);
    const proven = await fixture.registerVerified(admin.tenantId);
    const earlier = await costOf(signUp(owner.email));
    expect(await costOf(signUp(fresh.email))).toEqual(earlier);
    fixture.clock.move(61_000);
    expect(await costOf(signUp(proven.email))).toEqual(earlier);
    const mail = await fixture.mail(proven.email, /already have an account/);
    expect(mail.link).toBeNull();
  });
});
