/** Table 4.1 of the contract and its rules, as clients see them. */
import { describe, expect, it } from 'vitest';
import {
  AUTH,
  body,
  contractFixture,
  keys,
  NEW_PASSWORD,
  playRows,
  type Rows,
  refusal,
} from './contract-fixture.ts';
import { claimsOf, PASSWORD } from './identity-fixture.ts';

const world = contractFixture();
const { codeFor, consented, newcomer } = world;

/** More sessions than one page of the list contains. */
const FURTHER_SESSIONS = 1_200;
const PROFILE = [
  ...['avatar_url', 'created_at', 'display_name', 'email', 'email_verified', 'id', 'locale'],
  ...['preferred_username', 'public_metadata', 'roles'],
];

const OWN_ACCOUNT: Rows = {
  'GET /user/profile': async () => {
    const bob = await newcomer();
    const profile = body(await world.fixture.as(bob).get('/api/v1/user/profile'));
    expect(keys(profile)).toEqual(PROFILE);
    expect(profile).toMatchObject({ id: bob.userId, email: bob.email, roles: ['member'] });
  },
  'PATCH /user/profile': async () => {
    const me = world.fixture.as(await newcomer());
    const changed = body(await me.patch('/api/v1/user/profile', { display_name: 'Robert' }));
    expect(changed).toMatchObject({ display_name: 'Robert', avatar_url: null });
    const avatar_url = 'https://pictures.example/r.png';
    expect(body(await me.patch('/api/v1/user/profile', { avatar_url }))).toEqual({
      ...{ ...changed, avatar_url },
    });
  },
  'POST /user/change-password': async () => {
    const bob = await newcomer();
    const change = (current_password: string, new_password: string) =>
      world.fixture
        .as(bob)
        .post('/api/v1/user/change-password', { current_password, new_password });
    expect(refusal(await change(PASSWORD, '1234567'))).toBe('400 password_too_short');
    expect(refusal(await change(PASSWORD, 'x'.repeat(129)))).toBe('400 password_too_long');
    expect(refusal(await change('not mine at all', NEW_PASSWORD))).toBe('401 invalid_credentials');
    expect(body(await change(PASSWORD, NEW_PASSWORD))).toEqual({ status: 'password changed' });
    expect((await world.fixture.logIn(bob, NEW_PASSWORD)).status).toBe(200);
  },
  'GET /me/sessions': async () => {
    const bob = await newcomer();
    await world.fixture.logIn(bob);
    const { sessions, count } = body(await world.fixture.as(bob).get('/api/v1/me/sessions'));
    expect(count).toBe(2);
    const current = sessions.filter((each: { current: boolean }) => each.current);
    expect(current.map(({ id }: { id: string }) => id)).toEqual([claimsOf(bob.access).sid]);
    expect(keys(sessions[0])).toEqual(
      [
        ...['browser', 'browser_version', 'current', 'device_type', 'expires_at', 'family_id'],
        ...['id', 'ip_address', 'last_active_at', 'os', 'os_version', 'started_at', 'user_agent'],
      ].toSorted(),
    );
  },
  'DELETE /me/sessions/{id}': async () => {
    const bob = await newcomer();
    const revoke = (id: string) => world.fixture.as(bob).delete(`/api/v1/me/sessions/${id}`);
    const other = claimsOf((await world.fixture.logIn(bob)).body.access_token).sid;
    expect(body(await revoke(other))).toEqual({ status: 'revoked' });
    const foreign = claimsOf((await newcomer()).access).sid;
    expect(refusal(await revoke(foreign))).toBe('404 not_found');
    expect(refusal(await revoke('nothing'))).toBe('404 not_found');
  },
  'DELETE /me/sessions': async () => {
    const bob = await newcomer();
    await world.fixture.logIn(bob);
    await world.fixture.logIn(bob);
    const revoked = body(await world.fixture.as(bob).delete('/api/v1/me/sessions'));
    expect(revoked).toEqual({ revoked: 2, kept: 1 });
  },
  'GET /auth/consents': async () => {
    const { account, client } = await consented();
    const { consents } = body(await world.fixture.as(account).get(`${AUTH}/consents`));
    expect(consents).toEqual([
      {
        ...{ id: expect.any(String), client_id: client.id },
        ...{ scopes: ['openid', 'email'], claims: [], granted_at: expect.any(String) },
      },
    ]);
  },
  'DELETE /auth/consents/{id}': async () => {
    const { account, app } = await consented();
    const me = world.fixture.as(account);
    const [{ id }] = body(await me.get(`${AUTH}/consents`)).consents;
    const stranger = world.fixture.as(await newcomer());
    expect(refusal(await stranger.delete(`${AUTH}/consents/${id}`))).toBe('404 not_found');
    expect(body(await me.delete(`${AUTH}/consents/${id}`))).toEqual({ status: 'consent revoked' });
    const headers = { authorization: `Bearer ${app.access_token}` };
    const info = await fetch(`${world.fixture.baseUrl}/oauth2/userinfo`, { headers });
    expect(info.status).toBe(401);
  },
};

playRows('4.1', OWN_ACCOUNT);

describe('identity 1 the rules of 4.1', () => {
  it('1: a token without `sid` flags no session, and the list is complete', async () => {
    const bob = await newcomer();
    const { code } = await codeFor(bob.email);
    const proof = await world.fixture.as(bob).post(`${AUTH}/otp/verify`, { code });
    const { access_token: access } = body(proof);
    const { sessions, count } = body(
      await world.fixture.as({ ...bob, access }).get('/api/v1/me/sessions'),
    );
    expect([count, sessions[0].current]).toEqual([1, false]);
  });

  it('2: who revokes the session in use gets 401 at the next refresh', async () => {
    const bob = await newcomer();
    body(await world.fixture.as(bob).delete(`/api/v1/me/sessions/${claimsOf(bob.access).sid}`));
    expect(refusal(await world.fixture.refresh(bob.refresh))).toBe('401 invalid_refresh_token');
  });

  it('3: all sessions but the own one end; without a `sid`, or once it has ended, all', async () => {
    const bob = await newcomer();
    const { code } = await codeFor(bob.email);
    const proof = await world.fixture.as(bob).post(`${AUTH}/otp/verify`, { code });
    const { access_token: access } = body(proof);
    const without = world.fixture.as({ ...bob, access });
    expect(body(await without.delete('/api/v1/me/sessions'))).toEqual({ revoked: 1, kept: 0 });
    await world.fixture.logIn(bob);
    expect(body(await world.fixture.as(bob).delete('/api/v1/me/sessions'))).toEqual({
      ...{ revoked: 1, kept: 0 },
    });
    expect(refusal(await world.fixture.refresh(bob.refresh))).toBe('401 invalid_refresh_token');
  });

  it('counts, pages and ends every session of a user who has more than 1,000', async () => {
    const bob = await newcomer();
    const me = world.fixture.as(bob);
    const { sid } = claimsOf(bob.access);
    await world.fixture.host.needsOf('identity').database.system.query(
      `INSERT INTO identity.sessions
       SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(),
         'last_active_at', s.last_active_at - n * interval '1 second'))).*
       FROM identity.sessions s, generate_series(1, $2::integer) n WHERE s.id = $1`,
      [sid, FURTHER_SESSIONS],
    );
    const list = async (query: string) => body(await me.get(`/api/v1/me/sessions${query}`));
    const first = await list('?limit=1000');
    const rest = await list('?offset=1000');
    expect([first.count, first.sessions.length]).toEqual([1 + FURTHER_SESSIONS, 1_000]);
    expect([rest.count, rest.sessions.length]).toEqual([1 + FURTHER_SESSIONS, 201]);
    const ids = [...first.sessions, ...rest.sessions].map(({ id }: { id: string }) => id);
    expect((await list('')).sessions.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect([ids[0], new Set(ids).size]).toEqual([sid, 1 + FURTHER_SESSIONS]);
    expect((await list('?limit=2&offset=1')).sessions.map(({ id }: { id: string }) => id)).toEqual(
      ids.slice(1, 3),
    );
    expect(body(await me.delete('/api/v1/me/sessions'))).toEqual({
      ...{ revoked: FURTHER_SESSIONS, kept: 1 },
    });
    expect((await list('')).count).toBe(1);
  });
});
