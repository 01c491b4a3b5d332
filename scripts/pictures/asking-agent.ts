/**
 * A person whose agent sends a request: a service with a secret, a policy that requires the person to compare a number,
 * and the agent. The picture of the README shows such a request, and tests decide some.
 */
import type { RestAnswer, RestDriver } from '@cardea/testing';

export type Scene = {
  readonly service: string;
  /** The secret, by field. */
  readonly values: { readonly [field: string]: string };
  readonly agent: string;
  readonly person: {
    readonly email: string;
    readonly password: string;
    readonly display_name?: string;
    readonly roles?: readonly string[];
  };
  /** Further terms of the policy. */
  readonly policy?: object;
};

export type WaitingRequest = {
  readonly id: string;
  /** The number that the agent shows. */
  readonly code: string;
  /** Requests the secret again, with the approval. */
  readonly vend: () => Promise<RestAnswer>;
};

export type AskingAgent = {
  readonly person: { readonly id: string; readonly token: string };
  readonly agentId: string;
  /** Calls with the agent's key. */
  readonly agent: RestDriver;
  /** The agent begins a session for the person, requests the secret, and has to wait. */
  readonly asks: (purpose: string) => Promise<WaitingRequest>;
};

/** `admin` is a driver with the token of an administrator who has just signed in, and with the tenant. */
export async function askingAgent(admin: RestDriver, scene: Scene): Promise<AskingAgent> {
  const fields = Object.keys(scene.values);
  const services = [{ service_name: scene.service, fields }];
  await keepSecret(admin, scene);
  const { email, password } = scene.person;
  // The token of an administrator vouches for the user.
  const user = { ...scene.person, email_verified: true };
  const { id } = await bodyOf(admin.post('/api/v1/admin/users', user));
  const anyone = admin.as({ bearer: undefined });
  const { access_token: token } = await bodyOf(
    anyone.post('/api/v1/auth/login', { email, password }),
  );
  const made = await bodyOf(admin.post('/api/v1/agents', { name: scene.agent, services }));
  const { key } = await bodyOf(admin.post(`/api/v1/agents/${made.id}/keys`, { name: 'ci' }));
  const agent = admin.as({ bearer: key });
  const asks = async (purpose: string): Promise<WaitingRequest> => {
    const begin = { services, subject_token: token, purpose };
    const { data: session } = await bodyOf(agent.post('/api/v1/agent/sessions', begin));
    const path = `/api/v1/agent/sessions/${session.id}/credentials`;
    const vend = (more: object) =>
      agent.post(path, { ...services[0], ...more }, { headers: capabilityOf(session) });
    const { data } = await bodyOf(vend({}));
    if (data.approval_required !== true) throw new Error('no approval is required');
    const { approval_id, binding_message } = data;
    const [, code = ''] = /code (\d{4})/.exec(binding_message) ?? [];
    return { id: approval_id, code, vend: () => vend({ approval_id }) };
  };
  return { person: { id, token }, agentId: made.id, agent, asks };
}

const capabilityOf = ({ capability_token }: { readonly capability_token: string }) => ({
  'x-service-token': capability_token,
});

async function keepSecret(admin: RestDriver, { service, values, policy }: Scene): Promise<void> {
  const fields = Object.keys(values).map((name) => ({ name }));
  const vault = '/api/v1/vault';
  const registered = { name: service, credential_type: 'static', fields };
  await bodyOf(admin.post(`${vault}/services`, registered));
  await bodyOf(admin.put(`${vault}/services/${service}/secrets`, { fields: values }));
  await bodyOf(
    admin.post(`${vault}/approval-policies`, {
      name: `Ask before ${service}`,
      service_name: service,
      fields: '*',
      agent_ids: '*',
      effect: 'require_approval',
      number_match: true,
      ...policy,
    }),
  );
}

/** Returns the body of a call that succeeds. */
export async function bodyOf(call: Promise<RestAnswer>): Promise<RestAnswer['body']> {
  const { status, text, body } = await call;
  if (status >= 300) throw new Error(`it answered ${status}: ${text}`);
  return body;
}
