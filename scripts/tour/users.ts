/** Steps 2, 3, 5 and 15: users sign up, sign in, confirm their address, and sign out. */
import { as, bobsEmail, type Cast, claims, PASSWORD, signIn } from './cast.ts';
import { expect } from './player.ts';

/** Many times longer than an idle machine takes. */
const MAIL_MS_MAX = 90_000;

export async function companySignsUp(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(2, 'A company signs up: organization, tenant and admin in one call');
  cast.adminEmail = `ada-${cast.run}@example.com`;
  const body = {
    email: cast.adminEmail,
    password: PASSWORD,
    company_name: `Analytical ${cast.run}`,
    display_name: 'Ada',
  };
  const signUp = { method: 'POST', path: '/api/v1/auth/signup', body };
  const made = await player.call(signUp, 201, ['tenant_id', 'access_token']);
  cast.tenantId = made.body.tenant_id;
  const again = await player.call(signUp, 201, ['status']);
  expect(
    again.body.access_token === undefined,
    'no token for an address that is taken',
    again.body,
  );
  cast.expectedAudit.add('workspace.created');
}

export async function adminSignsIn(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(3, 'The admin signs in and sees who they are');
  const login = await signIn(cast, cast.adminEmail);
  cast.adminToken = login.body.access_token;
  const { sid } = claims(cast.adminToken);
  expect(typeof sid === 'string', 'a session id in the token', sid);
  const me = await player.call(
    { method: 'GET', path: '/api/v1/auth/me', headers: as(cast, cast.adminToken) },
    200,
    ['user.email', 'user.roles', 'tenant.slug'],
  );
  expect(me.body.tenant.id === cast.tenantId, 'the tenant of the sign-up', me.body.tenant);
  await player.call(
    { method: 'GET', path: '/api/v1/user/profile', headers: as(cast, cast.adminToken) },
    200,
    ['display_name', 'email_verified'],
  );
  cast.expectedAudit.add('login.success');
}

export async function colleagueRegisters(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(5, 'A colleague registers with the publishable key and confirms the address by mail');
  const applications = await player.call(
    { method: 'GET', path: '/api/v1/admin/applications', headers: as(cast, cast.adminToken) },
    200,
    ['applications.0.name', 'applications.0.publishable_key'],
  );
  const publishableKey = applications.body.applications[0].publishable_key;
  await player.call(
    { method: 'POST', path: '/api/v1/auth/identify', body: { publishable_key: publishableKey } },
    200,
    ['tenant_slug', 'environment'],
  );
  const email = bobsEmail(cast);
  const registered = await player.call(
    {
      method: 'POST',
      path: '/api/v1/auth/register',
      body: { email, password: PASSWORD, display_name: 'Bob', publishable_key: publishableKey },
    },
    201,
    ['user_id'],
  );
  cast.userId = registered.body.user_id;
  if (cast.mailbox === undefined) player.tell('skipped: the mail step (no mailbox to read)');
  else await confirmByMail(cast, email, cast.mailbox);
  const login = await signIn(cast, email);
  expect(
    login.body.email_verified === (cast.mailbox !== undefined),
    'email_verified to follow the mail',
    login.body.email_verified,
  );
  cast.userToken = login.body.access_token;
  cast.userRefresh = login.body.refresh_token;
  cast.expectedAudit.add('user.registered');
}

async function confirmByMail(cast: Cast, email: string, mailbox: string): Promise<void> {
  const { player } = cast;
  const deadline = Date.now() + MAIL_MS_MAX;
  let link: string | undefined;
  while (link === undefined && Date.now() < deadline) {
    const page = await fetch(new URL(`/dev/mailbox?to=${encodeURIComponent(email)}`, mailbox), {
      headers: { accept: 'application/json' },
    });
    const { messages } = (await page.json()) as { messages: { link: string | null }[] };
    link = messages.find((message) => message.link?.includes('verify-email'))?.link ?? undefined;
    if (link === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(link !== undefined, 'a mail with a link', 'none');
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get('token');
  expect(token !== null, 'the token in the fragment of the link', link);
  const verify = {
    method: 'POST',
    path: '/api/v1/auth/verify-email',
    body: { token, password: PASSWORD },
  };
  await player.call(verify, 200, ['status']);
  await player.call(verify, 422, ['error.code']);
  cast.expectedAudit.add('email.verified');
}

export async function sessionEnds(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(
    15,
    'Refresh tokens rotate; an old one is refused; a revoked session refreshes no more',
  );
  const refresh = (token: string) => ({
    method: 'POST',
    path: '/api/v1/auth/refresh',
    body: { refresh_token: token },
  });
  const first = await player.call(refresh(cast.userRefresh), 200, ['refresh_token']);
  await player.call(refresh(cast.userRefresh), 401, ['error.code']);
  const { sid } = claims(first.body.access_token);
  await player.call(
    {
      method: 'DELETE',
      path: `/api/v1/me/sessions/${sid}`,
      headers: as(cast, first.body.access_token),
    },
    200,
    ['status'],
  );
  await player.call(refresh(first.body.refresh_token), 401, ['error.code']);
  cast.expectedAudit.add('session.revoked');
}
