/** Logout notices when sessions end, with two replicas that both send. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf, PASSWORD } from './identity-fixture.ts';
import { type LogoutReceiver, logoutReceiver } from './logout-receiver.ts';
import { application, authorized, oauthCalls, type TestClient, token } from './oauth-fixture.ts';
import { oauthReplicasOfFile } from './oauth-replicas-fixture.ts';

const replicas = oauthReplicasOfFile();
const { refresh } = oauthCalls(() => replicas.one);
/** Long enough for a second notice of the same end to arrive, if there were one. */
const SETTLE_MS = 700;
const BY_BROWSER = { first_party: true, grant_types: ['authorization_code'] };
let receiver: LogoutReceiver;
/** An application with refresh tokens and therefore its own sessions. */
let shop: TestClient;
/** An application without refresh tokens. Its tokens name the browser sign-in. */
let bare: TestClient;
beforeAll(async () => {
  receiver = await logoutReceiver(() => replicas.one);
  const uri = { backchannel_logout_uri: receiver.uri };
  const es256 = { id_token_signed_response_alg: 'ES256' };
  shop = await application(replicas.one, replicas.admin, { first_party: true, ...uri });
  bare = await application(replicas.one, replicas.admin, { ...BY_BROWSER, ...uri, ...es256 });
});
afterAll(() => receiver.close());

type Signed = Awaited<ReturnType<typeof authorized>>;
type Flow = { readonly ann: Account; readonly ofShop: Signed; readonly ofBare: Signed };
const sidOf = ({ id_token }: Signed): string => String(claimsOf(id_token).sid);

async function flow(): Promise<Flow> {
  const ann = await replicas.one.register(replicas.admin.tenantId, 'ann');
  const ofShop = await authorized(replicas.one, { client: shop, account: ann });
  const { page } = ofShop;
  return {
    ann,
    ofShop,
    ofBare: await authorized(replicas.one, { client: bare, account: ann, page }),
  };
}

const ok = async (answer: Promise<{ readonly status: number; readonly text: string }>) => {
  const { status, text } = await answer;
  if (status >= 400) throw new Error(`${status} ${text}`);
};
const administrator = () => replicas.other.as(replicas.admin);
const userPath = ({ ann }: Flow): string => `/api/v1/admin/users/${ann.userId}`;
const me = ({ ann }: Flow) => replicas.other.as(ann);

const BOTH = ['shop', 'bare'];
/** The ways in which sessions end; which applications get a notice of one session, and which of the whole user. */
const ENDS: readonly [
  string,
  'session' | 'user',
  readonly string[],
  (of: Flow) => Promise<unknown>,
][] = [
  [
    'a sign-out in the browser',
    'session',
    BOTH,
    ({ ofBare: { page, id_token } }) =>
      page.get(`/oauth2/session/end?${new URLSearchParams({ id_token_hint: id_token })}`),
  ],
  [
    'one of /me/sessions',
    'session',
    BOTH,
    (of) => ok(me(of).delete(`/api/v1/me/sessions/${sidOf(of.ofBare)}`)),
  ],
  [
    'one session by an administrator',
    'session',
    BOTH,
    (of) => ok(administrator().delete(`${userPath(of)}/sessions/${sidOf(of.ofBare)}`)),
  ],
  [
    'another account in the same browser',
    'session',
    BOTH,
    async ({ ofShop: { page } }) => {
      const more = { prompt: 'login' };
      await authorized(replicas.one, { client: bare, account: replicas.bob, page, more });
    },
  ],
  [
    'a refresh token that comes again',
    'session',
    ['shop'],
    async ({ ofShop }) => {
      const { body } = await refresh(shop, ofShop.refresh_token);
      await refresh(shop, body.refresh_token);
      expect((await refresh(shop, ofShop.refresh_token)).status).toBe(400);
    },
  ],
  [
    'a code that comes again',
    'session',
    ['shop'],
    async ({ ofShop }) => expect((await token(replicas.other, ofShop.exchange)).status).toBe(400),
  ],
  [
    'a new password',
    'user',
    BOTH,
    (of) => {
      const body = { current_password: PASSWORD, new_password: 'another battery horse' };
      return ok(me(of).post('/api/v1/user/change-password', body));
    },
  ],
  [
    'a password that is reset',
    'user',
    BOTH,
    async ({ ann: { email, tenantId: tenant } }) => {
      const { rest } = replicas.other;
      await ok(rest.post('/api/v1/auth/forgot-password', { email }, { tenant }));
      const mail = await replicas.one
        .mail(email, /password/i)
        .catch(() => replicas.other.mail(email, /password/i));
      const body = { token: mail.token, new_password: 'another battery horse' };
      await ok(rest.post('/api/v1/auth/reset-password', body));
    },
  ],
  ['all but one of /me/sessions', 'user', BOTH, (of) => ok(me(of).delete('/api/v1/me/sessions'))],
  [
    'all sessions by an administrator',
    'user',
    BOTH,
    (of) => ok(administrator().post(`${userPath(of)}/revoke-sessions`, {})),
  ],
  [
    'disabling',
    'user',
    BOTH,
    (of) => ok(administrator().patch(userPath(of), { status: 'disabled' })),
  ],
  ['deletion', 'user', BOTH, (of) => ok(administrator().delete(userPath(of)))],
];

describe('a logout notice', () => {
  it.each(ENDS)(
    'of %s reaches the application within 2 s, once for each application and %s [oauth 35]',
    async (_name, about, told, end) => {
      const of = await flow();
      await end(of);
      const clients = { shop: [shop, of.ofShop], bare: [bare, of.ofBare] } as const;
      const expected = told.map((name) => {
        const [client, signed] = clients[name as keyof typeof clients];
        const sid = about === 'session' ? { sid: sidOf(signed) } : {};
        return { aud: client.client_id, sub: of.ann.userId, ...sid };
      });
      for (const { aud, sub } of expected) {
        await receiver.notice(({ claims }) => claims.aud === aud && claims.sub === sub);
      }
      await pause(SETTLE_MS);
      const came = receiver.notices.filter(({ claims }) => claims.sub === of.ann.userId);
      const seen = came.map(({ claims: { aud, sub, sid } }) => ({
        ...{ aud, sub },
        ...(sid === undefined ? {} : { sid }),
      }));
      expect(new Set(seen)).toEqual(new Set(expected));
      expect(seen).toHaveLength(expected.length);
      for (const { alg, claims } of came) {
        expect(alg).toBe(claims.aud === bare.client_id ? 'ES256' : 'RS256');
        expect([claims['tid'], (claims.exp ?? 0) - (claims.iat ?? 0)]).toEqual([
          replicas.admin.tenantId,
          120,
        ]);
      }
    },
  );

  it('is sent once for an application that comes back in the same browser [oauth 35]', async () => {
    const { ann, ofBare } = await flow();
    const { page } = ofBare;
    await authorized(replicas.one, { client: bare, account: ann, page });
    const events = await replicas.one.eventsSince(0n);
    const noted = events.filter(
      ({ type, streamId }) => type === 'SessionServed' && streamId === `session-${sidOf(ofBare)}`,
    );
    expect(noted).toHaveLength(1);
  });

  it('is not sent to an application that ended its own session, nor of one that goes on [oauth 35]', async () => {
    const { ann, ofShop } = await flow();
    const { page } = ofShop;
    const more = { scope: 'openid offline_access' };
    const stays = await authorized(replicas.one, { client: shop, account: ann, page, more });
    const body = { token: ofShop.refresh_token, client_id: shop.client_id };
    await fetch(`${replicas.one.baseUrl}/oauth2/revoke`, {
      method: 'POST',
      body: new URLSearchParams(body),
    });
    const hint = new URLSearchParams({ id_token_hint: stays.id_token });
    await page.get(`/oauth2/session/end?${hint}`);
    const isOfAnn = ({ claims }: { claims: { sub?: string } }) => claims.sub === ann.userId;
    await receiver.notice((notice) => isOfAnn(notice) && notice.claims.aud === bare.client_id);
    await pause(SETTLE_MS);
    expect(receiver.notices.filter(isOfAnn)).toHaveLength(1);
  });

  it('names each session where the application needs that, or one of them goes on [oauth 35]', async () => {
    const { one, admin } = replicas;
    const uri = { backchannel_logout_uri: receiver.uri };
    const exact = { ...BY_BROWSER, ...uri, backchannel_logout_session_required: true };
    const strict = await application(one, admin, exact);
    const scopes = ['openid', 'account'];
    const own = await application(one, admin, { ...BY_BROWSER, ...uri, scopes });
    const ann = await one.register(admin.tenantId, 'ann');
    const more = { scope: 'openid account' };
    const signed = async (client: TestClient) =>
      authorized(one, { client, account: ann, ...(client === own ? { more } : {}) });
    const [kept, other, first, second] = [
      await signed(own),
      await signed(own),
      await signed(strict),
      await signed(strict),
    ];
    const caller = one.rest.as({ bearer: kept.access_token, tenant: ann.tenantId });
    const body = { current_password: PASSWORD, new_password: 'another battery horse' };
    await ok(caller.post('/api/v1/user/change-password', body));
    for (const each of [other, first, second]) {
      await receiver.notice(({ claims }) => claims.sid === sidOf(each));
    }
    await pause(SETTLE_MS);
    const came = receiver.notices.filter(({ claims }) => claims.sub === ann.userId);
    expect(new Set(came.map(({ claims }) => claims.sid))).toEqual(
      new Set([other, first, second].map(sidOf)),
    );
    expect(came).toHaveLength(3);
  });
});
