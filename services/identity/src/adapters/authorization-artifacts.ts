/** Stores the models of the authorization server's library in the cache, or computes them from streams. */
import { failpoint } from '@cardea/runtime';
import { errors, Provider } from 'oidc-provider';
import { boundArtifact, boundNamed, boundProven } from './artifact-bounds.ts';
import { type ArtifactBasis, type Ctx, type Ports, tenantFor } from './authorization-ports.ts';
import { stored } from './cache-errors.ts';
import { checkDeviceScopes, pacePolls } from './device-flow.ts';
import { useProof } from './possession.ts';
import { agentPayload } from './token-exchange.ts';

/** How long a used code is remembered. No session can start from a code after that time. */
const USED_SECONDS = 3_600;
/** How long an expired device code is kept, so that the device learns that it has expired. */
const EXPIRED_SECONDS = 300;
const GRANT_SECONDS = 12 * 3_600;

export function adapterOf(ports: Ports, name: string) {
  const { artifacts } = ports;
  const never = async (): Promise<never> => {
    throw new Error(`${name} is not the library's to change`);
  };
  const common = {
    upsert: never,
    find: async (): Promise<object | undefined> => undefined,
    findByUserCode: async (_userCode: string): Promise<object | undefined> => undefined,
    findByUid: async (): Promise<object | undefined> => undefined,
    consume: never as (id: string) => Promise<void>,
    destroy: async (_id: string): Promise<void> => {},
    revokeByGrantId: async () => {},
  };
  switch (name) {
    case 'Client':
      return { ...common, find: (id: string) => clientPayload(ports, id) };
    case 'Grant':
      return { ...common, find: (id: string) => grantPayload(ports, id) };
    case 'RefreshToken':
      return {
        ...common,
        find: (id: string) => refreshPayload(ports, id),
        destroy: async (id: string) => {
          const { ctx } = Provider;
          if (ctx !== undefined) await ports.endSession(ctx.req, id);
        },
      };
    default:
      return {
        ...common,
        upsert: async (id: string, payload: Payload, ttl: number) => {
          if (name === 'ReplayDetection' && !(await stored(artifacts.use(name, id, ttl)))) {
            // The library has searched for the assertion before. Of two concurrent requests only one gets past this
            // line.
            throw new errors.InvalidClientAuth('client assertion tokens must only be used once');
          }
          if (name === 'ReplayDetection') {
            // The library has verified the assertion's signature at this point.
            await boundProven(ports, Provider.ctx?.oidc?.client?.clientId ?? '');
          } else await boundArtifact(ports, name, payload);
          if (name === 'PushedAuthorizationRequest') await useProof(Provider.ctx?.req);
          if (name === 'DeviceCode') {
            checkDeviceScopes(payload.params);
            if (!(await isFirstDecision(ports, { id, payload, ttl }))) return;
          }
          const basis = await basisFor(ports, name, { id, payload });
          const kept = name === 'DeviceCode' ? ttl + EXPIRED_SECONDS : ttl;
          await stored(artifacts.put(name, id, { ...payload, ...basis }, kept));
          if (name === 'Session' && payload.uid !== undefined) {
            await stored(artifacts.put('SessionUid', payload.uid, { id }, ttl));
          }
          if (name === 'DeviceCode' && payload.userCode !== undefined) {
            await stored(artifacts.put('UserCode', payload.userCode, { id }, kept));
          }
        },
        find: (id: string) => artifact(ports, name, id),
        findByUid: async (uid: string) => {
          const found = await stored(artifacts.find('SessionUid', uid));
          return found === undefined ? undefined : artifact(ports, name, String(found.value['id']));
        },
        findByUserCode: async (userCode: string) => {
          const found = await stored(artifacts.find('UserCode', userCode));
          return found === undefined ? undefined : artifact(ports, name, String(found.value['id']));
        },
        consume: async (id: string) => {
          if (await stored(artifacts.use(name, id, USED_SECONDS))) {
            if (name === 'DeviceCode') await failpoint('device.after_consume');
            return;
          }
          // Only one of two concurrent requests gets past this line.
          throw name === 'PushedAuthorizationRequest'
            ? new errors.InvalidRequestUri('request_uri was already used')
            : new errors.InvalidGrant('the code was already used');
        },
        destroy: (id: string) => stored(artifacts.remove(name, id)),
      };
  }
}

type Payload = {
  readonly uid?: string;
  readonly accountId?: string;
  readonly acr?: string;
  readonly clientId?: string;
  readonly grantId?: string;
  readonly params?: { readonly client_id?: unknown; readonly scope?: unknown };
  readonly userCode?: string;
  readonly error?: string;
  readonly prompt?: { readonly name: string };
  readonly session?: { readonly accountId?: string; readonly acr?: string };
};

/**
 * The key under which the basis is stored beside the library's fields. The library drops fields that it does not know.
 */
const BASIS = 'basis';

/** For each model: the client of an artifact's payload and, if it matters, the signed-in user. */
const ABOUT: {
  readonly [model: string]: (
    payload: Payload,
    ctx: Ctx,
  ) => {
    readonly clientId: string;
    readonly signedIn?: Payload['session'];
    readonly grantId?: string | undefined;
  };
} = {
  AuthorizationCode: ({ accountId = '', acr = '', clientId = '', grantId }) => ({
    clientId,
    grantId,
    signedIn: { accountId, acr },
  }),
  // After the decision, the person who decided about the device is known.
  DeviceCode: ({ accountId, acr = '', clientId = '', grantId }) =>
    accountId === undefined ? { clientId } : { clientId, grantId, signedIn: { accountId, acr } },
  PushedAuthorizationRequest: (_payload, { oidc }) => ({ clientId: oidc.client?.clientId ?? '' }),
  // At the sign-in page no user is known yet.
  Interaction: ({ params, prompt, session }) => ({
    clientId: String(params?.client_id ?? ''),
    ...(prompt?.name === 'consent' && session !== undefined ? { signedIn: session } : {}),
  }),
};

/** An artifact that is stored again keeps the basis with which it was issued. */
async function basisFor(
  ports: Ports,
  name: string,
  { id, payload }: { readonly id: string; readonly payload: Payload },
): Promise<{ readonly [BASIS]?: unknown }> {
  const about = ABOUT[name];
  if (about === undefined) return {};
  const before = await stored(ports.artifacts.find(name, id));
  const known = before?.value[BASIS] as ArtifactBasis | undefined;
  const isDecidedNow = name === 'DeviceCode' && payload.accountId !== undefined;
  if (known !== undefined && !isDecidedNow) {
    const isLost = name === 'Interaction' && payload.session === undefined;
    return { [BASIS]: isLost ? withoutUser(known) : known };
  }
  const ctx = Provider.ctx as Ctx;
  const { clientId, signedIn, grantId } = about(payload, ctx);
  const { accountId, acr: browserSid = '' } = signedIn ?? {};
  const user = accountId === undefined ? undefined : { id: accountId, browserSid };
  const tenantId = await tenantFor(ports, ctx);
  return { [BASIS]: await ports.basisOf({ tenantId, clientId, user, grantId }) };
}

/** If two people decide about one device concurrently, the first decision counts. */
async function isFirstDecision(
  { artifacts }: Pick<Ports, 'artifacts'>,
  { id, payload, ttl }: { readonly id: string; readonly payload: Payload; readonly ttl: number },
): Promise<boolean> {
  if (payload.accountId === undefined && payload.error === undefined) return true;
  return stored(artifacts.use('DeviceDecision', id, ttl));
}

async function artifact(ports: Ports, name: string, id: string): Promise<object | undefined> {
  const found = await stored(ports.artifacts.find(name, id));
  if (found === undefined) return undefined;
  if (name === 'DeviceCode') await pacePolls(ports.artifacts, id, found.value);
  const { ctx } = Provider;
  const basis = found.value[BASIS] as ArtifactBasis | undefined;
  if (!found.used) {
    if (basis === undefined || (await ports.stillStands(ctx?.req, basis))) return found.value;
    const isOfUser = name === 'Interaction' && basis.userId !== undefined;
    const goesOn = isOfUser && (await ports.stillStands(ctx?.req, withoutUser(basis)));
    return goesOn ? forNobody(found.value) : undefined;
  }
  // Another client that obtained a used code cannot end the session with it.
  const isOwn = ctx?.oidc?.client?.clientId === found.value['clientId'];
  if (name === 'AuthorizationCode' && ctx !== undefined && isOwn) {
    await ports.codeReplayed(ctx.req, id);
  }
  return { ...found.value, consumed: 1 };
}

const withoutUser = ({ tenantId, basis: { application } }: ArtifactBasis): ArtifactBasis => ({
  tenantId,
  userId: undefined,
  basis: { application },
});

/** If the user of a page is no longer signed in, the sign-in is required again and the decision is discarded. */
const forNobody = ({
  session: _session,
  result: _result,
  lastSubmission: _last,
  ...rest
}: {
  readonly [member: string]: unknown;
}) => rest;

async function clientPayload(ports: Ports, id: string): Promise<object | undefined> {
  const found = (await ports.client(id)) ?? (await agentPayload(ports, id));
  if (found !== undefined) await boundNamed(ports, id);
  return found;
}

async function grantPayload({ grantById }: Ports, id: string) {
  const found = await grantById(id);
  if (found === undefined) return undefined;
  const { accountId, clientId, granted } = found;
  const { '': openid = [], ...resources } = granted;
  return {
    jti: id,
    kind: 'Grant',
    accountId,
    clientId,
    iat: 0,
    exp: Math.floor(Date.now() / 1000) + GRANT_SECONDS,
    openid: { scope: openid.join(' ') },
    resources: Object.fromEntries(
      Object.entries(resources).map(([resource, scopes]) => [resource, scopes.join(' ')]),
    ),
  };
}

async function refreshPayload(ports: Ports, id: string) {
  const found = await ports.refreshToken(id);
  if (found === undefined) return undefined;
  const { clientId, userId: accountId } = found;
  return {
    jti: id,
    kind: 'RefreshToken',
    clientId,
    accountId,
    iat: 0,
    exp: Math.floor(Date.now() / 1000) + GRANT_SECONDS,
  };
}
