/** Steps 16 and 17: a user gives an application access and takes it back, and adds a second factor. */
import { createHash, randomBytes } from 'node:crypto';
import { as, type Cast, claims, PASSWORD, signIn } from './cast.ts';
import { codeAt, STEP_MS } from './codes.ts';
import { canHearNotices, noticeArrives, verifiedByRsa } from './logout-notice.ts';
import { expect, type Player, type Reply } from './player.ts';

const REDIRECT = 'https://shop.example/signed-in';
const SIGNED_OUT = 'https://shop.example/signed-out';
const SCOPE = 'openid email';
const STEPS_MAX = 8;

const emailOf = ({ run }: Cast): string => `bob-${run}@example.com`;

type Browser = ReturnType<typeof browser>;

/** A client that stores cookies and sends them back by their path, as a browser does. */
function browser(player: Player, issuer: string) {
  const jar = new Map<string, { readonly value: string; readonly path: string }>();
  return async (
    method: 'GET' | 'POST',
    to: string,
    more: { readonly accept?: string; readonly body?: unknown } = {},
  ): Promise<Reply> => {
    const { pathname, search } = new URL(to, issuer);
    const cookie = [...jar]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
    const headers = { accept: more.accept ?? 'text/html', cookie };
    const reply = await player.look({
      method,
      path: `${pathname}${search}`,
      headers: method === 'POST' ? { ...headers, origin: new URL(issuer).origin } : headers,
      ...(more.body === undefined ? {} : { body: more.body }),
    });
    for (const line of reply.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ');
      const at = pair.indexOf('=');
      const path = attributes.find((each) => /^path=/i.test(each))?.slice('path='.length) ?? '/';
      jar.set(pair.slice(0, at), { value: pair.slice(at + 1), path });
    }
    return reply;
  };
}

/** Goes through the pages of sign-in and consent until the application has its code. */
async function codeOf(
  cast: Cast,
  go: Browser,
  { issuer, authorize }: { readonly issuer: string; readonly authorize: string },
): Promise<string> {
  const json = 'application/json';
  let reply = await go('GET', authorize);
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const location = reply.headers.get('location') ?? '';
    if (location.startsWith(REDIRECT)) return new URL(location).searchParams.get('code') ?? '';
    if (!location.includes('/oauth2/interaction/')) {
      expect(location !== '', 'to be sent on', { status: reply.status, text: reply.text });
      reply = await go('GET', location);
      continue;
    }
    const asked = await go('GET', location, { accept: json });
    const { pathname } = new URL(location, issuer);
    const isLogin = asked.body?.prompt === 'login';
    cast.player.tell(isLogin ? 'the page asks who they are' : 'the page asks for their consent');
    const done = isLogin
      ? await go('POST', `${pathname}/login`, {
          accept: json,
          body: { email: emailOf(cast), password: PASSWORD },
        })
      : await go('POST', `${pathname}/consent`, { accept: json, body: {} });
    expect(done.status === 200, 'the page to go on', done.body);
    reply = await go('GET', done.body.redirect_to);
  }
  throw new Error('the sign-in does not end');
}

export async function applicationSignsIn(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(
    16,
    'A user lets an application in and shuts it out again; it hears of their sign-out',
  );
  const admin = as(cast, cast.adminToken);
  const application = {
    name: 'Shop',
    type: 'spa',
    redirect_uris: [REDIRECT],
    post_logout_redirect_uris: [SIGNED_OUT],
    ...(canHearNotices(player) ? { backchannel_logout_uri: cast.hooks.logoutUrl } : {}),
  };
  const made = await player.call(
    { method: 'POST', path: '/api/v1/admin/applications', headers: admin, body: application },
    201,
    ['client_id', 'type'],
  );
  const { client_id } = made.body;
  const configuration = { method: 'GET', path: '/.well-known/openid-configuration' };
  const { issuer } = (await player.call(configuration, 200, ['issuer'])).body;
  const go = browser(player, issuer);
  const tokens = await tokensOf(cast, go, { issuer, client_id });
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  const userinfo = { method: 'GET', path: '/oauth2/userinfo', headers };
  const info = await player.call(userinfo, 200, ['sub', 'email']);
  expect(info.body.sub === cast.userId, 'the user who let it in', info.body.sub);
  await verifiedByRsa(player, 'id_token', tokens.id_token);

  const user = as(cast, (await signIn(cast, emailOf(cast))).body.access_token);
  const list = { method: 'GET', path: '/api/v1/auth/consents', headers: user };
  const { consents } = (await player.call(list, 200, ['consents.0.scopes'])).body;
  const withdraw = `/api/v1/auth/consents/${consents[0].id}`;
  await player.call({ method: 'DELETE', path: withdraw, headers: user }, 200, ['status']);
  await player.call(userinfo, 401);

  const { id_token: idToken } = await tokensOf(cast, go, { issuer, client_id });
  await browserSignsOut(player, go, { client_id, idToken });
  await noticeArrives(cast, { client_id, idToken });
  cast.expectedAudit
    .add('admin.application.create')
    .add('consent.granted')
    .add('oauth.authorized')
    .add('consent.revoked');
}

/** Performs a whole flow of the browser's user, up to the tokens. */
async function tokensOf(
  cast: Cast,
  go: Browser,
  { issuer, client_id }: { readonly issuer: string; readonly client_id: string },
): Promise<Reply['body']> {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    ...asked(client_id),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  });
  const code = await codeOf(cast, go, { issuer, authorize: `/oauth2/authorize?${query}` });
  const exchange = {
    method: 'POST',
    path: '/oauth2/token',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT,
      client_id,
      code_verifier: verifier,
    }),
  };
  const shown = ['access_token', 'refresh_token', 'scope'];
  return (await cast.player.call(exchange, 200, shown)).body;
}

/** The parameters of an authorization request, except those that bind the code to the requester. */
const asked = (client_id: string) => ({
  client_id,
  response_type: 'code',
  redirect_uri: REDIRECT,
  scope: SCOPE,
  state: 's',
  code_challenge_method: 'S256',
});

async function browserSignsOut(
  player: Player,
  go: Browser,
  of: { readonly client_id: string; readonly idToken: string },
): Promise<void> {
  const end = new URLSearchParams({
    id_token_hint: of.idToken,
    post_logout_redirect_uri: SIGNED_OUT,
    state: 's',
  });
  const done = await go('GET', `/oauth2/session/end?${end}`);
  const location = done.headers.get('location');
  expect(location === `${SIGNED_OUT}?state=s`, 'to be sent back signed out', location);
  const code_challenge = createHash('sha256').update(of.client_id).digest('base64url');
  const silent = new URLSearchParams({ ...asked(of.client_id), code_challenge, prompt: 'none' });
  const answer = await go('GET', `/oauth2/authorize?${silent}`);
  const error = new URL(answer.headers.get('location') ?? '').searchParams.get('error');
  expect(error === 'login_required', 'nobody to be signed in', error);
  player.tell('the browser is signed out, and asked to sign in again');
}

export async function secondFactorIsAdded(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(17, 'A user adds an authenticator app, without which nobody signs in as them');
  const user = as(cast, (await signIn(cast, emailOf(cast))).body.access_token);
  const enrol = { method: 'POST', path: '/api/v1/me/mfa/totp', headers: user, body: {} };
  const { factor_id, secret } = (await player.call(enrol, 201, ['factor_id', 'secret'])).body;
  // The code of a time step is accepted once. A code of the next step is accepted already.
  const codeIn = (ms: number) => codeAt(Date.now() + ms, secret);
  const path = `/api/v1/me/mfa/totp/${factor_id}/confirm`;
  const confirm = { method: 'POST', path, headers: user, body: { code: codeIn(0) } };
  await player.call(confirm, 200, ['status']);

  const due = await signIn(cast, emailOf(cast));
  expect(due.body.access_token === undefined, 'no token before the second factor', due.body);
  const show = (code: string) => ({
    method: 'POST',
    path: '/api/v1/auth/mfa/verify',
    body: { mfa_token: due.body.mfa_token, method: 'totp', code },
  });
  await player.call(show('000000'), 401, ['error.code']);
  const entered = await player.call(show(codeIn(STEP_MS)), 200, ['user_id']);
  const { amr } = claims(entered.body.access_token);
  expect(JSON.stringify(amr) === '["pwd","otp","mfa"]', 'both factors in the token', amr);
  cast.expectedAudit.add('mfa.enrolled').add('mfa.verified').add('mfa.failure');
}
