/** Requests to the endpoints of accounts. */

import { untilTrue } from '@cardea/testing';
import type { Fortress } from '../fortress.ts';
import type { Sample, Samples } from '../sample.ts';
import { pendingSignIn } from '../second-factors.ts';
import { claimsOf, expectStatus, PASSWORD } from '../users.ts';

const publicly = (ask: Sample['ask']): Sample => ({ by: 'none', ask });
const byMember = (ask: Sample['ask'] = () => ({})): Sample => ({ by: 'member', ask });
const bySystemAdmin = (): Sample => ({ by: 'system admin', ask: () => ({}) });
const byOwner = (ask: Sample['ask'] = () => ({})): Sample => ({ by: 'owner', ask });
const byAdmin = (ask: Sample['ask'] = () => ({})): Sample => ({ by: 'admin', ask });

/** The token of the newest mail to an address about a subject. */
export async function mailedToken({ rest }: Fortress, to: string, about: RegExp): Promise<string> {
  return untilTrue(
    async () => {
      const { body } = await rest.get('/dev/mailbox', { query: { to } });
      const mails: readonly { subject: string; link: string | null }[] = body.messages;
      const mail = mails.find(({ subject, link }) => link !== null && about.test(subject));
      return mail?.link?.split('#token=')[1];
    },
    { what: `mail to ${to}` },
  );
}

async function registered(world: Fortress): Promise<string> {
  const email = world.newEmail();
  const body = { email, password: PASSWORD, display_name: 'Guest' };
  const made = await world.rest.post('/api/v1/auth/register', body, { tenant: world.a.tenantId });
  expectStatus(made, 201);
  return email;
}

const confirmation = async (world: Fortress) =>
  mailedToken(world, await registered(world), /confirm/i);

/** Requests mail of this kind, and returns its content. */
async function mailedTo(world: Fortress, path: string, about: RegExp) {
  const email = await registered(world);
  const { tenantId: tenant } = world.a;
  expectStatus(await world.rest.post(path, { email }, { tenant }), 200);
  return untilTrue(
    async () => {
      const { body } = await world.rest.get('/dev/mailbox', { query: { to: email } });
      return body.messages.find(({ subject }: { subject: string }) => about.test(subject));
    },
    { what: `mail to ${email}` },
  );
}

async function resetToken(world: Fortress): Promise<string> {
  const email = await registered(world);
  const { tenantId: tenant } = world.a;
  expectStatus(await world.rest.post('/api/v1/auth/forgot-password', { email }, { tenant }), 200);
  return mailedToken(world, email, /password/i);
}

const someUser = async (world: Fortress) => ({
  id: (await world.addUser(world.a.owner, ['member'])).userId,
});

/**
 * A response with the right form to a challenge that was never issued. Real responses of authenticators are tested
 * beside the code.
 */
const PASSKEY = {
  challenge_id: 'nobody',
  response: { id: 'x', rawId: 'x', type: 'public-key', response: {} },
};
async function invite(world: Fortress) {
  const { owner, tenantId: tenant } = world.a;
  const email = world.newEmail();
  const by = { bearer: owner.access, tenant };
  const made = await world.rest.post('/api/v1/admin/invitations', { email }, by);
  expectStatus(made, 201);
  return { email, id: String(made.body.id) };
}

const invitationToken = async (world: Fortress) =>
  mailedToken(world, (await invite(world)).email, /invited/i);

/** The responses of providers are tested beside the code. */
async function tenantWithGitHub(world: Fortress): Promise<string> {
  const { owner, tenantId: tenant } = world.a;
  const settings = {
    auth_methods: ['password', 'passkeys', 'magic_link', 'otp', 'github'],
    social: { github: { client_id: 'cardea', client_secret: 'of-this-test' } },
  };
  const by = { bearer: owner.access, tenant };
  expectStatus(await world.rest.patch(`/api/v1/admin/tenants/${tenant}`, { settings }, by), 200);
  return tenant;
}

const ofPeople: Samples = {
  sign_up: publicly((world) => ({
    body: { email: world.newEmail(), password: PASSWORD, company_name: 'Corp' },
  })),
  register: publicly((world) => ({
    body: { email: world.newEmail(), password: PASSWORD, display_name: 'Guest' },
  })),
  log_in: publicly(({ a }) => ({ body: { email: a.member.email, password: PASSWORD } })),
  refresh: publicly(async (world) => ({
    body: { refresh_token: (await world.logIn(world.a.member)).refresh },
  })),
  identify_application: publicly(({ a }) => ({ body: { publishable_key: a.publishableKey } })),
  forgot_password: publicly((world) => ({ body: { email: world.newEmail() } })),
  reset_password: publicly(async (world) => ({
    body: { token: await resetToken(world), new_password: PASSWORD },
  })),
  reset_password_page: publicly(() => ({})),
  verify_email: publicly(async (world) => ({ body: { token: await confirmation(world) } })),
  verify_email_by_link: publicly(async (world) => ({
    query: { token: await confirmation(world) },
  })),
  send_magic_link: publicly((world) => ({ body: { email: world.newEmail() } })),
  verify_magic_link: publicly(async (world) => {
    const { link } = await mailedTo(world, '/api/v1/auth/magic-link', /sign in/i);
    return { body: { token: String(link).split('#token=')[1] } };
  }),
  magic_link_page: publicly(() => ({})),
  accept_invitation: publicly(async (world) => ({
    body: { token: await invitationToken(world), password: PASSWORD },
  })),
  accept_invitation_page: publicly(() => ({})),
  send_otp: publicly((world) => ({ body: { email: world.newEmail() } })),
  verify_otp: publicly(async (world) => {
    const { code } = await mailedTo(world, '/api/v1/auth/otp/send', /code/i);
    return { body: { code } };
  }),
  challenge_second_factor: publicly(async (world) => ({
    body: { mfa_token: (await pendingSignIn(world)).mfaToken, method: 'totp' },
  })),
  verify_second_factor: publicly(async (world) => {
    const { mfaToken, codes } = await pendingSignIn(world);
    return { body: { mfa_token: mfaToken, method: 'recovery', code: codes[0] } };
  }),
  passkey_sign_in_options: publicly(() => ({ body: {} })),
  sign_in_by_passkey: { ...publicly(() => ({ body: PASSKEY })), status: 410 },
  authorize_social_sign_in: publicly(async (world) => ({
    params: { provider: 'github' },
    query: { tenant_id: await tenantWithGitHub(world) },
  })),
  social_callback: { ...publicly(() => ({ params: { provider: 'github' } })), status: 400 },
  redeem_social_code: { ...publicly(() => ({ body: { code: 'nobody' } })), status: 401 },
  jwks: publicly(() => ({})),
  client_jwks: publicly(() => ({})),
  dev_mailbox: publicly(({ a }) => ({ query: { to: a.owner.email } })),
  empty_dev_mailbox: publicly(() => ({})),
};

const ofOneself: Samples = {
  resend_verification: byMember(() => ({ body: {} })),
  current_user: byMember(),
  get_profile: byMember(),
  update_profile: byMember(() => ({ body: { display_name: 'Somebody' } })),
  change_password: byMember(() => ({
    body: { current_password: PASSWORD, new_password: PASSWORD },
  })),
  // Another sample changes the password without a session, which ends the member's sessions.
  step_up: {
    ...byAdmin(() => ({ body: { method: 'password', password: PASSWORD } })),
    but: { member: 401, 'revoked session': 401 },
  },
  list_my_sessions: byMember(),
  revoke_my_session: {
    ...byMember(async (world) => {
      const { access } = await world.logIn(world.a.member);
      return { params: { id: String(claimsOf(access)['sid']) } };
    }),
    but: { 'system admin': 404, owner: 404, admin: 404 },
  },
  revoke_my_other_sessions: byMember(),
  list_my_identities: byMember(),
  unlink_my_identity: { ...byMember(() => ({ params: { provider: 'github' } })), status: 404 },
};

/** The callers stay without a second factor, so that they can sign in again. */
const ofSecondFactors: Samples = {
  list_second_factors: byMember(),
  enrol_totp: byMember(() => ({ body: { name: 'My phone' } })),
  confirm_totp: {
    ...byMember(() => ({ params: { id: 'nobody' }, body: { code: '000000' } })),
    status: 404,
  },
  renew_recovery_codes: { ...byMember(), status: 409 },
  passkey_options: byMember(),
  add_passkey: { ...byMember(() => ({ body: PASSKEY })), status: 410 },
  list_passkeys: byMember(),
  rename_passkey: {
    ...byMember(() => ({ params: { id: 'nobody' }, body: { name: 'My key' } })),
    status: 404,
  },
  remove_passkey: { ...byMember(() => ({ params: { id: 'nobody' } })), status: 404 },
  remove_second_factor: { ...byMember(() => ({ params: { id: 'nobody' } })), status: 404 },
};

/** Requests a change of a user's address. Returns the newest mail to the new address. */
async function changingEmail(world: Fortress) {
  const person = await world.addUser(world.a.owner, ['member']);
  const email = world.newEmail();
  const by = { bearer: person.access, tenant: world.a.tenantId };
  expectStatus(await world.rest.post('/api/v1/user/email', { email }, by), 202);
  return mailedToken(world, email, /confirm your new/i);
}

const ofOwnAccount: Samples = {
  // Another sample has ended the sessions of the member.
  request_email_change: {
    ...byAdmin((world) => ({ body: { email: world.newEmail() } })),
    status: 202,
    but: { member: 401 },
  },
  get_email_change: byMember(),
  stop_my_email_change: byMember(),
  verify_email_change: publicly(async (world) => ({
    body: { token: await changingEmail(world) },
  })),
  email_change_page: publicly(() => ({})),
  verify_my_email_change: { ...byMember(() => ({ body: { code: 'K7QF-3MXP' } })), status: 401 },
  stop_email_change: { ...publicly(() => ({ body: { token: 'nobody' } })), status: 401 },
  stop_email_change_page: publicly(() => ({})),
  schedule_deletion: {
    ...byAdmin(() => ({ body: { confirm: 'somebody-else@example.com' } })),
    status: 400,
    but: { member: 401 },
  },
  get_deletion: byMember(),
  cancel_deletion: byMember(),
  export_my_account: byMember(),
};

const ofAdministrators: Samples = {
  get_organization: byOwner(),
  update_organization: byOwner(() => ({ body: { settings: { audit_retention_days: 90 } } })),
  get_tenant: byOwner(({ a }) => ({ params: { id: a.tenantId } })),
  update_tenant: byOwner(({ a }) => ({
    params: { id: a.tenantId },
    body: { settings: { password_policy: { min: 8 } } },
  })),
  list_tenants: byOwner(),
  create_tenant: byOwner(() => ({ body: { name: 'Branch' } })),
  delete_tenant: {
    ...byOwner(async (world) => {
      const { owner, tenantId: tenant } = world.a;
      const by = { bearer: owner.access, tenant };
      const made = await world.rest.post('/api/v1/admin/tenants', { name: 'Closing' }, by);
      expectStatus(made, 201);
      return { params: { id: String(made.body.id) } };
    }),
    status: 202,
  },
  create_user: byAdmin((world) => ({ body: { email: world.newEmail(), roles: ['member'] } })),
  list_users: byAdmin(() => ({ query: { limit: '5' } })),
  export_users: byAdmin(() => ({})),
  get_user: byAdmin(async (world) => ({ params: { id: world.a.member.userId } })),
  update_user: byAdmin(async (world) => ({
    params: await someUser(world),
    body: { display_name: 'Renamed' },
  })),
  reset_mfa: byAdmin(async (world) => ({ params: await someUser(world) })),
  delete_user: byAdmin(async (world) => ({ params: await someUser(world) })),
  import_users: byAdmin((world) => ({ body: { users: [{ email: world.newEmail() }] } })),
  unlock_user: byAdmin(async (world) => ({ params: await someUser(world) })),
  revoke_user_sessions: byAdmin(async (world) => ({ params: await someUser(world) })),
  list_user_sessions: byAdmin(async (world) => ({ params: await someUser(world) })),
  revoke_user_session: byAdmin(async (world) => {
    const { userId, access } = await world.addUser(world.a.owner, ['member']);
    return { params: { id: userId, session_id: String(claimsOf(access)['sid']) } };
  }),
  reset_user_password: byAdmin(async (world) => ({ params: await someUser(world) })),
  impersonate_user: byAdmin(async (world) => ({
    params: await someUser(world),
    body: { reason: 'ticket 4711' },
  })),
  list_invitations: byAdmin(() => ({ query: { limit: '5' } })),
  create_invitation: byAdmin((world) => ({ body: { email: world.newEmail() } })),
  revoke_invitation: byAdmin(async (world) => ({ params: { id: (await invite(world)).id } })),
  list_signing_keys: bySystemAdmin(),
  rotate_signing_keys: bySystemAdmin(),
};

export const identitySamples: Samples = {
  ...ofPeople,
  ...ofOneself,
  ...ofSecondFactors,
  ...ofOwnAccount,
  ...ofAdministrators,
};
