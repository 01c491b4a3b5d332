/** The tenants of a soak: an administrator who stays signed in, a member, agents with keys, a secret, a webhook. */
import type { RestAnswer, RestDriver } from '@cardea/testing';

const AGENTS_PER_TENANT = 40;
export const SERVICE = 'warehouse';
export const PASSWORD = 'a password that nobody guesses';
const WEBHOOK_EVENTS = ['user.created', 'user.deleted'];
/** Revocations are kept as long as access tokens live. So their memory has stopped growing after a third of 30 min. */
export const SIGNED_IN_MS = 600_000;

export type Agent = { readonly key: string; session: Session | undefined };
export type Session = { readonly id: string; readonly capability: string };

export type Tenant = {
  readonly id: string;
  /** Signed in for {@link SIGNED_IN_MS}, and again after each `renew`. */
  readonly admin: RestDriver;
  renew(): Promise<void>;
  readonly agents: readonly Agent[];
  readonly member: { readonly email: string };
};

export async function tenantOf(rest: RestDriver, name: string, receiver: string): Promise<Tenant> {
  const email = `owner@${name}.example.com`;
  const signUp = { email, password: PASSWORD, company_name: name };
  const { body: owner } = await must(201, rest.post('/api/v1/auth/signup', signUp));
  const id: string = owner.tenant_id;
  let admin = rest.as({ bearer: owner.access_token, tenant: id });
  const renew = async (): Promise<void> => {
    const credentials = { email, password: PASSWORD };
    const login = rest.as({ tenant: id }).post('/api/v1/auth/login', credentials);
    admin = rest.as({ bearer: (await must(200, login)).body.access_token, tenant: id });
  };
  const service = { name: SERVICE, credential_type: 'static', fields: [{ name: 'password' }] };
  await must(201, admin.post('/api/v1/vault/services', service));
  const secrets = { fields: { password: 'kept' } };
  await must(200, admin.put(`/api/v1/vault/services/${SERVICE}/secrets`, secrets));
  const webhook = { url: `${receiver}/${id}`, events: WEBHOOK_EVENTS };
  await must(201, admin.post('/api/v1/webhooks', webhook));
  const member = { email: `member@${name}.example.com` };
  const user = { ...member, password: PASSWORD, email_verified: true };
  await must(201, admin.post('/api/v1/admin/users', user));
  const agents: Agent[] = [];
  for (let at = 0; at < AGENTS_PER_TENANT; at += 1) {
    const services = [{ service_name: SERVICE, fields: ['*'] }];
    const agent = await must(201, admin.post('/api/v1/agents', { name: `agent ${at}`, services }));
    const path = `/api/v1/agents/${agent.body.id}/keys`;
    const { body } = await must(201, admin.post(path, { name: 'k' }));
    agents.push({ key: body.key, session: undefined });
  }
  return {
    id,
    get admin() {
      return admin;
    },
    renew,
    agents,
    member,
  };
}

/** Throws if the response has another status. */
export async function must(status: number, answering: Promise<RestAnswer>): Promise<RestAnswer> {
  const answer = await answering;
  if (answer.status === status) return answer;
  throw new Error(`${answer.status} instead of ${status}: ${answer.text.slice(0, 300)}`);
}
