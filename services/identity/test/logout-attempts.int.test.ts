/** How often a logout notice is sent to applications that do not accept it, and that they delay no others. */
import { connect } from 'node:net';
import { ConnectFailed, type Dialer } from '@cardea/http';
import { metrics } from '@cardea/runtime';
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf } from './identity-fixture.ts';
import { type LogoutReceiver, logoutReceiver } from './logout-receiver.ts';
import {
  application,
  authorized,
  type OAuthFixture,
  oauthFixture,
  type TestClient,
} from './oauth-fixture.ts';

const database = testDatabase();
const AFTER_PAUSE_MS = 8_000;
/** The operator has allowed this origin, and the resolver resolves it to a private address. */
const INSIDE = 'https://receiver.internal';
let fixture: OAuthFixture;
let admin: Account;
const receivers: LogoutReceiver[] = [];
/** Private addresses that were connected to. Nothing may be sent there. */
const dialled: string[] = [];
const dialer: Dialer = async ({ address, port }) => {
  if (address.startsWith('10.')) {
    dialled.push(`${address}:${port}`);
    throw new ConnectFailed('connect_error');
  }
  const socket = connect(port, address);
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => reject(new ConnectFailed('connect_error')));
  });
};
beforeAll(async () => {
  const resolver = async () => ['10.0.0.7'];
  const env = { IDENTITY_PRIVATE_ORIGINS: `${INSIDE},https://10.0.0.8` };
  fixture = await oauthFixture(database.url, env, { noticeNetwork: { resolver, dialer } });
  admin = await fixture.signUp();
});
afterAll(async () => {
  await fixture?.stop();
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

async function receiving(answer: LogoutReceiver['answer'] = 200) {
  const receiver = await logoutReceiver(() => fixture);
  receiver.answer = answer;
  receivers.push(receiver);
  return receiver;
}
const register = (uri: string, more: object = {}, by = admin) =>
  application(fixture, by, {
    ...{ first_party: true, grant_types: ['authorization_code'] },
    ...{ backchannel_logout_uri: uri, ...more },
  });
/** Signs in and out. */
async function signedOut(client: TestClient, account: Account) {
  const { page, id_token } = await authorized(fixture, { client, account });
  const hint = new URLSearchParams({ id_token_hint: id_token });
  const beganMs = performance.now();
  expect((await page.get(`/oauth2/session/end?${hint}`)).status).toBe(200);
  return { tookMs: performance.now() - beganMs, sid: claimsOf(id_token).sid };
}
const ann = () => fixture.register(admin.tenantId, 'ann');
const eventsOf = async (client: TestClient) => {
  const events = await fixture.eventsSince(0n);
  const ids = new Set(
    events
      .filter(({ type }) => type === 'LogoutNoticeQueued')
      .filter(({ data }) => (data as { client_id?: string }).client_id === client.client_id)
      .map(({ streamId }) => streamId),
  );
  return events.filter(({ streamId }) => ids.has(streamId));
};
const cameTo = (client: TestClient, type: string, deadlineMs = 2_000) =>
  untilTrue(async () => (await eventsOf(client)).find((event) => event.type === type), {
    what: type,
    deadlineMs,
  });

const refusedNotices = async () => {
  const { values } = await metrics.notices.get();
  return (
    values.find(({ labels }) => labels.kind === 'logout' && labels.outcome === 'refused')?.value ??
    0
  );
};

describe('a logout notice that is not taken', () => {
  it('is sent again by a new token, and then no more [oauth 35]', async () => {
    const receiver = await receiving(503);
    const client = await register(receiver.uri);
    await signedOut(client, await ann());
    expect((await cameTo(client, 'LogoutNoticeDeferred')).data).toMatchObject({
      ...{ attempts: 1, cause: 'status' },
    });
    receiver.answer = 204;
    const settled = await cameTo(client, 'LogoutNoticeSettled', AFTER_PAUSE_MS);
    expect(settled.data).toEqual({ attempts: 2, outcome: 'delivered' });
    const [first, second] = receiver.notices;
    expect(receiver.notices).toHaveLength(2);
    expect(second?.claims.sid).toBe(first?.claims.sid);
    expect(second?.claims.jti).not.toBe(first?.claims.jti);
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(4_000);
  });

  it('is final after 400, and topic and metrics say so [oauth 35]', async () => {
    const receiver = await receiving(400);
    const refusedBefore = await refusedNotices();
    const client = await register(receiver.uri);
    const { sid } = await signedOut(client, await ann());
    await cameTo(client, 'LogoutNoticeFailed');
    const told = await untilTrue(async () => {
      const { rows } = await fixture.shared.database.asSystem((sql) =>
        sql.query<{ data: object }>(
          `SELECT value -> 'data' AS data FROM bus.records
           WHERE topic = 'cardea.identity.events.v1'
             AND value ->> 'type' = 'oauth.logout_notice_failed'
             AND value -> 'data' ->> 'client_id' = $1`,
          [client.client_id],
        ),
      );
      return rows[0]?.data;
    });
    expect(told).toMatchObject({ session_id: sid, attempts: 1, cause: 'refused' });
    expect(await refusedNotices()).toBe(refusedBefore + 1);
    expect(receiver.notices).toHaveLength(1);
  });

  it('follows no redirect [oauth 35]', async () => {
    const receiver = await receiving(302);
    const client = await register(receiver.uri);
    await signedOut(client, await ann());
    expect((await cameTo(client, 'LogoutNoticeDeferred')).data).toMatchObject({ cause: 'status' });
    expect(receiver.notices).toHaveLength(1);
  });

  it('is not sent where nobody listens, or inside [oauth 35]', async () => {
    const gone = await receiving();
    await gone.close();
    const closed = await register(gone.uri);
    await signedOut(closed, await ann());
    const failed = await cameTo(closed, 'LogoutNoticeDeferred');
    expect(failed.data).toMatchObject({ cause: 'connect_error' });
    const inside = await register('https://receiver.example/logout');
    await signedOut(inside, await ann());
    const blocked = await cameTo(inside, 'LogoutNoticeDeferred');
    expect(blocked.data).toMatchObject({ cause: 'blocked_address' });
  });

  it('is sent inside to the very origins that the operator has opened [oauth 35]', async () => {
    const opened = await register(`${INSIDE}/logout`);
    await signedOut(opened, await ann());
    const failed = await cameTo(opened, 'LogoutNoticeDeferred');
    expect(failed.data).toMatchObject({ cause: 'connect_error' });
    expect(dialled).toEqual(['10.0.0.7:443']);
    await register('https://10.0.0.8/logout');
    for (const uri of [`${INSIDE}:8443/logout`, 'https://other.internal/', 'https://10.0.0.9/']) {
      const body = { name: 'x', type: 'spa', backchannel_logout_uri: uri };
      const refused = await fixture.as(admin).post('/api/v1/admin/applications', body);
      expect(refused.code).toBe('invalid_redirect_uri');
    }
  });

  it('delays neither the sign-out nor other tenants; four are on their way at a time [oauth 35]', async () => {
    const slow = await receiving('hang');
    const strict = await register(slow.uri, { backchannel_logout_session_required: true });
    const user = await ann();
    for (let sessions = 0; sessions < 6; sessions += 1) {
      await authorized(fixture, { client: strict, account: user });
    }
    const path = `/api/v1/admin/users/${user.userId}/revoke-sessions`;
    expect((await fixture.as(admin).post(path, {})).status).toBe(200);
    await untilTrue(() => slow.notices.length >= 4);
    const elsewhere = await fixture.signUp();
    const receiver = await receiving();
    const client = await register(receiver.uri, {}, elsewhere);
    const { tookMs } = await signedOut(client, elsewhere);
    expect(tookMs).toBeLessThan(1_500);
    await receiver.notice(() => true);
    expect(slow.notices.length).toBe(4);
    const deferred = await cameTo(strict, 'LogoutNoticeDeferred', AFTER_PAUSE_MS);
    expect(deferred.data).toMatchObject({ attempts: 1, cause: 'timeout' });
  });
});

describe('an address for logout notices', () => {
  it.each([
    ['http://shop.example/logout', 'https'],
    ['https://10.0.0.1/logout', 'private_address'],
    ['https://[::ffff:169.254.169.254]/', 'private_address'],
    ['https://localhost.localdomain.local/', 'host'],
    ['https://user@shop.example/', 'userinfo'],
    ['https://shop.example/#x', 'fragment'],
    ['ftp://shop.example/', 'https'],
    ['logout', 'syntax'],
  ])('%s is refused by the rule %s [oauth 35]', async (backchannel_logout_uri, rule) => {
    const body = { name: 'x', type: 'spa', backchannel_logout_uri };
    const answer = await fixture.as(admin).post('/api/v1/admin/applications', body);
    expect([answer.status, answer.code]).toEqual([400, 'invalid_redirect_uri']);
    expect(answer.body.error.details).toEqual({ field: 'backchannel_logout_uri', rule });
  });

  it('is shown, changed and taken away [oauth 35]', async () => {
    const { id } = await register('https://shop.example/logout');
    const path = `/api/v1/admin/applications/${id}`;
    const shown = async () => (await fixture.as(admin).get(path)).body;
    expect(await shown()).toMatchObject({
      backchannel_logout_uri: 'https://shop.example/logout',
      backchannel_logout_session_required: false,
    });
    const none = { backchannel_logout_uri: null, backchannel_logout_session_required: true };
    expect((await fixture.as(admin).patch(path, none)).status).toBe(200);
    expect(await shown()).toMatchObject(none);
    const { body } = await fixture.as(admin).get('/api/v1/admin/applications');
    expect(body.applications.find((each: { id: string }) => each.id === id)).toMatchObject(none);
  });
});
