/** Limits how much of the cache unauthenticated authorization requests may fill, and how often a client may call. */
import { errors, Provider } from 'oidc-provider';
import { type LimitedRoute, type Ports, tenantOf } from './authorization-ports.ts';

/** The limit of an authorization request's parameters: all names and values together. */
export const AUTHORIZATION_PARAMETERS_MAX_BYTES = 8 * 1024;

export class TooManyRequests extends errors.OIDCProviderError {
  constructor(description: string) {
    super(429, 'temporarily_unavailable');
    this.error_description = description;
    this.expose = true;
    this.allow_redirect = false;
  }
}

/** Throws if an authorization request is too large to be stored, or if its client address has stored too much. */
export async function boundArtifact(ports: Ports, model: string, payload: object): Promise<void> {
  const { ctx } = Provider;
  if (ctx === undefined) return;
  if (sizeOf(parametersOf(model, payload)) > AUTHORIZATION_PARAMETERS_MAX_BYTES) {
    const refusal = new errors.InvalidRequest('the authorization request is too large');
    refusal.allow_redirect = false;
    throw refusal;
  }
  const client = ctx.oidc?.client;
  const tenantId = client === undefined ? undefined : tenantOf(client);
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (!(await ports.admitsArtifact(ctx.req, { tenantId, bytes }))) {
    throw new TooManyRequests('too many requests of this address');
  }
}

/** A pushed request is stored as an unsigned JWT of its parameters. */
function parametersOf(model: string, payload: object): object {
  const { params = {}, request } = payload as { params?: object; request?: string };
  if (model === 'Interaction') return params;
  if (model !== 'PushedAuthorizationRequest' || request === undefined) return {};
  return JSON.parse(Buffer.from(request.split('.')[1] ?? '', 'base64url').toString());
}

const sizeOf = (parameters: object): number =>
  Object.entries(parameters).reduce(
    (size, [name, value]) => size + Buffer.byteLength(`${name}${value}`),
    0,
  );

const LIMITED: { readonly [path: string]: LimitedRoute } = {
  '/oauth2/token': 'token',
  '/oauth2/par': 'par',
  '/oauth2/device_authorization': 'device',
};

/** Charges a request that names a client but has not authenticated as it. */
export async function boundNamed(ports: Ports, clientId: string): Promise<void> {
  const { ctx } = Provider;
  const to = LIMITED[ctx?.path ?? ''];
  if (ctx === undefined || to === undefined) return;
  if (!(await ports.admits(ctx.req, clientId, to))) throw new TooManyRequests(OF_CLIENT);
}

/** Charges a request whose client has authenticated. */
export async function boundProven(ports: Ports, clientId: string): Promise<void> {
  const to = LIMITED[Provider.ctx?.path ?? ''];
  if (to === undefined) return;
  if (!(await ports.admitsProven(clientId, to))) throw new TooManyRequests(OF_CLIENT);
}

const OF_CLIENT = 'too many requests of this client';
