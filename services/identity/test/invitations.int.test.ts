/** Invitations: who may send them, what their link allows, and when it stops working. */
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Account, claimsOf, identityOfFile, PASSWORD } from './identity-fixture.ts';

const DAY_MS = 24 * 3_600_000;
const PATH = '/api/v1/admin/invitations';
const ACCEPT = '/api/v1/auth/invitations/accept';

const { fixture, admin: ann } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });

let count = 0;
const newEmail = () => {
  count += 1;
  return `guest.${count}@example.com`;
};
const told = ({ status, code }: { status: number; code: string | undefined }) =>
  code === undefined ? `${status}` : `${status} ${code}`;
const invite = (email: string, roles?: readonly string[], by: Account = ann) =>
  fixture.as(by).post(PATH, { email, ...(roles === undefined ? {} : { roles }) });
const token = async (email: string) => (await fixture.mail(email, /invited/i)).token;
const accept = (of: string, body: object = { password: PASSWORD }) =>
  fixture.rest.post(ACCEPT, { token: of, ...body });
const pending = async (by: Account = ann) => (await fixture.as(by).get(PATH)).body.invitations;
const of = (email: string) => ({ tenantId: ann.tenantId, email });
const invited = async (roles?: readonly string[], by: Account = ann) => {
  const email = newEmail();
  const { body } = await invite(email, roles, by);
  return { email, id: body.id as string, link: await token(email) };
};
const setMode = (mode: string) =>
  fixture
    .as(ann)
    .patch(`/api/v1/admin/tenants/${ann.tenantId}`, { settings: { registration: { mode } } });

describe('an invitation', () => {
  it('is listed until it is accepted, and makes an account with its roles that is vouched for', async () => {
    const email = newEmail();
    const made = await invite(` ${email}`.trim().toUpperCase(), ['admin']);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ email, roles: ['admin'], status: 'pending' });
    expect(made.body.invited_by).toBe(ann.userId);
    expect(await pending()).toContainEqual(made.body);
    const joined = await accept(await token(email), { password: PASSWORD, display_name: 'Guest' });
    expect(joined.status).toBe(200);
    expect(Object.keys(joined.body).toSorted()).toEqual(
      ['access_token', 'expires_in', 'refresh_token', 'user_id'].toSorted(),
    );
    expect(joined.body.user_id).toBe(made.body.user_id);
    expect(claimsOf(joined.body.access_token)).toMatchObject({ roles: ['admin'], amr: ['pwd'] });
    expect((await fixture.refresh(joined.body.refresh_token)).status).toBe(200);
    expect((await fixture.logIn(of(email))).status).toBe(200);
    const shown = await fixture.as(ann).get(`/api/v1/admin/users/${joined.body.user_id}`);
    expect(shown.body).toMatchObject({
      ...{ email, display_name: 'Guest', roles: ['admin'], status: 'active' },
      ...{ email_verified: true, vouched: true },
    });
    expect((await pending()).map(({ id }: { id: string }) => id)).not.toContain(made.body.id);
    expect(told(await invite(email))).toBe('409 email_already_exists');
  });

  it('works once, however many accept it at once', async () => {
    const { link, email } = await invited();
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(link)));
    expect(answers.map(told).toSorted()).toEqual([
      '200',
      ...Array(9).fill('401 invalid_invitation'),
    ]);
    expect(told(await accept(link))).toBe('401 invalid_invitation');
    expect((await fixture.logIn(of(email))).status).toBe(200);
  });

  it('leaves a token alone to whoever chooses no password', async () => {
    const { link } = await invited();
    const joined = await accept(link, {});
    expect(joined.status).toBe(200);
    expect(joined.body).not.toHaveProperty('refresh_token');
    expect(claimsOf(joined.body.access_token)).toMatchObject({ amr: ['otp'] });
  });

  it('is nothing once withdrawn, replaced, lapsed, or in another tenant', async () => {
    const withdrawn = await invited();
    const gone = await fixture.as(ann).delete(`${PATH}/${withdrawn.id}`);
    expect([gone.status, gone.body]).toEqual([200, { status: 'invitation revoked' }]);
    expect(told(await accept(withdrawn.link))).toBe('401 invalid_invitation');
    expect(told(await fixture.as(ann).delete(`${PATH}/nobody`))).toBe('404 not_found');

    const replaced = await invited();
    expect((await invite(replaced.email, ['member'])).status).toBe(201);
    expect(told(await accept(replaced.link))).toBe('401 invalid_invitation');
    const both = (await pending()).filter(
      ({ email }: { email: string }) => email === replaced.email,
    );
    expect(both).toHaveLength(1);
    const next = await untilTrue(
      async () => {
        const link = await token(replaced.email);
        return link === replaced.link ? undefined : link;
      },
      { what: 'the second mail' },
    );
    const elsewhere = await fixture.signUp('eve');
    const asked = { token: next, password: PASSWORD };
    const foreign = await fixture.rest.post(ACCEPT, asked, { tenant: elsewhere.tenantId });
    expect(told(foreign)).toBe('401 invalid_invitation');
    const swapped = next.replace(ann.tenantId, elsewhere.tenantId);
    expect(told(await accept(swapped))).toBe('401 invalid_invitation');
    expect((await accept(next)).status).toBe(200);

    const late = await invited();
    fixture.clock.move(7 * DAY_MS);
    try {
      expect(told(await accept(late.link))).toBe('410 invitation_expired');
      const { access_token: access } = (await fixture.logIn(ann)).body;
      const row = (await pending({ ...ann, access })).find(
        ({ id }: { id: string }) => id === late.id,
      );
      expect(row).toMatchObject({ status: 'expired', email: late.email });
    } finally {
      fixture.clock.move(-7 * DAY_MS);
    }
  });

  it('gives no role that its inviter may not give any more', async () => {
    const boss = await invited(['owner', 'admin']);
    const joined = await accept(boss.link);
    const owner = { ...ann, userId: joined.body.user_id, access: joined.body.access_token };
    const accomplice = await invited(['owner', 'admin'], owner);
    const plain = await invited(['member'], owner);
    const path = `/api/v1/admin/users/${owner.userId}`;
    expect((await fixture.as(ann).patch(path, { roles: ['admin'] })).status).toBe(200);
    expect(told(await accept(accomplice.link))).toBe('401 invalid_invitation');
    expect((await accept(plain.link)).status).toBe(200);
  });

  it('is sent by administrators alone, for roles up to their own, and follows the mode', async () => {
    const member = await fixture.register(ann.tenantId);
    expect((await invite(newEmail(), undefined, member)).status).toBe(403);
    const stranger = await fixture.signUp('stranger');
    const foreign = fixture.rest.as({ bearer: stranger.access, tenant: ann.tenantId });
    expect(told(await foreign.post(PATH, { email: newEmail() }))).toBe('403 tenant_mismatch');
    const made = await invited();
    expect(told(await fixture.as(stranger).delete(`${PATH}/${made.id}`))).toBe('404 not_found');
    expect(await pending(stranger)).toEqual([]);
    const key = await fixture.as(ann).post('/api/v1/api-keys', {
      name: 'key',
      scopes: ['users:read', 'users:write'],
    });
    const byKey = fixture.rest.as({ bearer: key.body.key, tenant: ann.tenantId });
    expect((await byKey.post(PATH, { email: newEmail() })).status).toBe(403);
    expect(told(await invite(newEmail(), ['system_admin']))).toBe('403 forbidden');
    expect(told(await invite(newEmail(), ['pope']))).toBe('400 unknown_role');
    expect(told(await invite('nobody'))).toBe('400 invalid_email');
    expect((await setMode('invited')).status).toBe(200);
    expect((await accept(made.link)).status).toBe(200);
    const held = await invited();
    expect((await setMode('closed')).status).toBe(200);
    expect(told(await invite(newEmail()))).toBe('403 registration_closed');
    expect(told(await accept(held.link))).toBe('403 registration_closed');
    expect((await setMode('open')).status).toBe(200);
    expect((await accept(held.link)).status).toBe(200);
  });

  it('P5 takes the address from whoever registered it meanwhile without proving it', async () => {
    const { email, link } = await invited(['admin']);
    const body = { email, password: 'chosen by somebody else' };
    const { tenantId: tenant } = ann;
    expect((await fixture.rest.post('/api/v1/auth/register', body, { tenant })).status).toBe(201);
    expect(told(await accept(link))).toBe('200');
    expect(told(await fixture.logIn(of(email), body.password))).toBe('401 invalid_credentials');
    const { body: users } = await fixture.as(ann).get('/api/v1/admin/users', { query: { email } });
    expect(users.users[0]).toMatchObject({ roles: ['admin'], vouched: true });
  });

  it('may be asked for three times a minute for one address', async () => {
    const email = newEmail();
    const answers: string[] = [];
    for (let round = 0; round < 4; round += 1) answers.push(told(await invite(email)));
    expect(answers).toEqual(['201', '201', '201', '429 rate_limited']);
  });

  it('is made once under one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'one guest' };
    const email = newEmail();
    const ask = (of: string) => fixture.as(ann).post(PATH, { email: of }, { headers });
    const [first, again] = [await ask(email), await ask(email)];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(told(await ask(newEmail()))).toBe('422 idempotency_key_reused');
  });
});

describe('an account that is created with an invitation', () => {
  const create = async (more: object = {}) => {
    const email = newEmail();
    const body = { email, send_invitation: true, ...more };
    return { email, made: await fixture.as(ann).post('/api/v1/admin/users', body) };
  };

  it('is nobody’s until its owner takes it over', async () => {
    const { email, made } = await create({ roles: ['admin'], display_name: 'New' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ status: 'invited', roles: ['admin'] });
    expect(told(await fixture.logIn(of(email)))).toBe('401 invalid_credentials');
    const { tenantId: tenant } = ann;
    await fixture.rest.post('/api/v1/auth/forgot-password', { email }, { tenant });
    const list = await fixture.as(ann).get('/api/v1/admin/users', { query: { status: 'invited' } });
    expect(list.body.users.map(({ id }: { id: string }) => id)).toEqual([made.body.id]);
    const joined = await accept(await token(email));
    expect(joined.status).toBe(200);
    expect(joined.body.user_id).toBe(made.body.id);
    const shown = await fixture.as(ann).get(`/api/v1/admin/users/${made.body.id}`);
    expect(shown.body).toMatchObject({
      ...{ status: 'active', email_verified: true, display_name: 'New', roles: ['admin'] },
    });
    expect((await fixture.logIn(of(email))).status).toBe(200);
    const mails = await fixture.rest.get('/dev/mailbox', { query: { to: email } });
    const subjects = mails.body.messages.map(({ subject }: { subject: string }) => subject);
    expect(subjects).toEqual(['You are invited']);
  });

  it('leaves nothing behind when it is deleted, or withdrawn', async () => {
    const { email, made } = await create();
    const link = await token(email);
    const path = `/api/v1/admin/users/${made.body.id}`;
    expect((await fixture.as(ann).delete(path)).status).toBe(200);
    expect(told(await accept(link))).toBe('401 invalid_invitation');
    const withdrawn = await invited();
    const { user_id: nobody } = (await pending()).find(
      ({ id }: { id: string }) => id === withdrawn.id,
    );
    await fixture.as(ann).delete(`${PATH}/${withdrawn.id}`);
    const { database: tables } = fixture.host.needsOf('identity');
    await untilTrue(
      async () => {
        const { rows } = await tables.system.query<{ email: string }>(
          `SELECT email FROM identity.invitations WHERE email = ANY($1)
           UNION ALL SELECT subject_id FROM identity.subject_keys
           WHERE subject_id = ANY($2) AND wrapped IS NOT NULL`,
          [
            [email, withdrawn.email],
            [`user:${made.body.id}`, `user:${nobody}`],
          ],
        );
        return rows.length === 0;
      },
      { what: 'both addresses are erased' },
    );
  });

  it('has no password chosen for it', async () => {
    const { made } = await create({ password: PASSWORD });
    expect(told(made)).toBe('400 invalid_request');
  });
});
