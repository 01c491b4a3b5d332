/** Requests to the endpoints of applications and resource servers. */
import { randomBytes } from 'node:crypto';
import type { Fortress } from '../fortress.ts';
import type { Sample, Samples } from '../sample.ts';
import { expectStatus } from '../users.ts';

const byAdmin = (ask: Sample['ask'] = () => ({})): Sample => ({ by: 'admin', ask });

const APPLICATIONS = '/api/v1/admin/applications';
const RESOURCE_SERVERS = '/api/v1/admin/resource-servers';

async function made(world: Fortress, path: string, body: object): Promise<{ id: string }> {
  const { owner, tenantId: tenant } = world.a;
  const answer = await world.rest.post(path, body, { bearer: owner.access, tenant });
  expectStatus(answer, 201);
  return { id: String(answer.body.id) };
}

const application = (world: Fortress) => made(world, APPLICATIONS, { name: 'Shop', type: 'web' });
const newResourceServer = () => ({
  identifier: `https://${randomBytes(6).toString('hex')}.example.com`,
  name: 'Orders',
});

/** Without this header, browsers get a page instead. */
const AS_JSON = { headers: { accept: 'application/json' } };
const tokenOf = ({ a }: Fortress) => ({ body: { token: a.member.access } });

export const applicationSamples: Samples = {
  introspect_token: {
    by: 'none',
    ask: tokenOf,
    // If a credential is sent, it has to be one that may introspect tokens.
    but: { 'member of B': 401, forged: 401, 'agent key': 401 },
  },
  // A request without a client, or without the cookie of an interaction, gets the protocol's own refusal.
  authorize: { by: 'none', ask: () => AS_JSON, status: 400 },
  // The browser is redirected and gets the refusal there.
  post_authorize: { by: 'none', ask: () => ({ body: { client_id: 'nobody' } }), status: 303 },
  end_session: {
    by: 'none',
    ask: () => ({ query: { client_id: 'nobody' }, ...AS_JSON }),
    status: 400,
  },
  post_end_session: { by: 'none', ask: () => ({ body: {} }), status: 303 },
  confirm_end_session: { by: 'none', ask: () => ({ body: {} }), status: 403 },
  resume_authorization: {
    by: 'none',
    ask: () => ({ ...AS_JSON, params: { uid: 'nobody' } }),
    status: 400,
  },
  issue_tokens: { by: 'none', ask: () => ({ body: {} }), status: 400 },
  revoke_token: { by: 'none', ask: () => ({ body: {} }), status: 400 },
  authorize_device: { by: 'none', ask: () => ({ body: {} }), status: 400 },
  device_page: { by: 'none', ask: () => ({}) },
  // The request lacks the secret of the page that asks for the code.
  enter_device_code: { by: 'none', ask: () => ({ body: { user_code: 'BBBB-BBBB' } }), status: 400 },
  resume_device: { by: 'none', ask: () => ({ params: { uid: 'nobody' } }), status: 400 },
  push_authorization_request: { by: 'none', ask: () => ({ body: {} }), status: 400 },
  openid_configuration: { by: 'none', ask: () => ({}) },
  authorization_server_metadata: { by: 'none', ask: () => ({}) },
  protected_resource_metadata: { by: 'none', ask: () => ({}) },
  protected_resource_metadata_of_api: { by: 'none', ask: () => ({}) },
  interaction: {
    by: 'none',
    ask: () => ({ ...AS_JSON, params: { uid: 'nobody' } }),
    status: 404,
  },
  interaction_login: {
    by: 'none',
    ask: () => ({ params: { uid: 'nobody' }, body: { email: 'a@b.example', password: 'x' } }),
    status: 403,
  },
  interaction_mfa: {
    by: 'none',
    ask: () => ({ params: { uid: 'nobody' }, body: { method: 'totp', code: '000000' } }),
    status: 403,
  },
  interaction_forgot_password: {
    by: 'none',
    ask: () => ({ params: { uid: 'nobody' }, body: { email: 'a@b.example' } }),
    status: 403,
  },
  select_account: { by: 'none', ask: () => ({ params: { uid: 'nobody' } }), status: 403 },
  interaction_register: {
    by: 'none',
    ask: () => ({ params: { uid: 'nobody' }, body: { email: 'nobody@example.com' } }),
    status: 403,
  },
  interaction_verify_email: {
    by: 'none',
    ask: () => ({ params: { uid: 'nobody' }, body: { code: 'AAAA-AAAA' } }),
    status: 403,
  },
  // Leads to the page that only proves the address.
  interaction_verify_email_page: {
    by: 'none',
    ask: () => ({ ...AS_JSON, params: { uid: 'nobody' } }),
    status: 303,
  },
  restart_interaction: { by: 'none', ask: () => ({ params: { uid: 'nobody' } }), status: 403 },
  interaction_challenge: {
    by: 'none',
    ask: () => ({ params: { uid: 'nobody' }, body: { method: 'passkey' } }),
    status: 403,
  },
  interaction_social: {
    by: 'none',
    ask: () => ({ ...AS_JSON, params: { uid: 'nobody' }, query: { code: 'nobody' } }),
    status: 404,
  },
  interaction_link: {
    by: 'none',
    ask: () => ({ ...AS_JSON, params: { uid: 'nobody' } }),
    status: 404,
  },
  interaction_consent: { by: 'none', ask: () => ({ params: { uid: 'nobody' } }), status: 403 },
  abort_interaction: { by: 'none', ask: () => ({ params: { uid: 'nobody' } }), status: 403 },
  // The endpoint accepts only tokens that an application got.
  userinfo: { by: 'none', ask: () => ({}), status: 401 },
  post_userinfo: { by: 'none', ask: () => ({ body: {} }), status: 401 },
  list_consents: { by: 'member', ask: () => ({}) },
  revoke_consent: { by: 'member', ask: () => ({ params: { id: 'nobody' } }), status: 404 },
  list_applications: byAdmin(),
  list_machine_scopes: byAdmin(),
  create_application: byAdmin(() => ({ body: { name: 'Shop', type: 'spa' } })),
  get_application: byAdmin(async (world) => ({ params: await application(world) })),
  update_application: byAdmin(async (world) => ({
    params: await application(world),
    body: { name: 'Store' },
  })),
  delete_application: byAdmin(async (world) => ({ params: await application(world) })),
  rotate_publishable_key: byAdmin(async (world) => ({ params: await application(world) })),
  rotate_client_secret: byAdmin(async (world) => ({ params: await application(world) })),
  list_resource_servers: byAdmin(),
  create_resource_server: byAdmin(() => ({ body: newResourceServer() })),
  delete_resource_server: byAdmin(async (world) => ({
    params: await made(world, RESOURCE_SERVERS, newResourceServer()),
  })),
};
