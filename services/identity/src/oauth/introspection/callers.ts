/**
 * Identifies the caller of an introspection. Possession of the token suffices unless the deployment requires more.
 * Credentials that are sent must be correct, and limit the response to tokens of their own tenant.
 */
import { boundKeyOf, isOfMachine } from '@cardea/auth';
import { parseKey } from '@cardea/crypto';
import { type Clock, type Settings, storedId } from '@cardea/runtime';
import type { ArtifactCache } from '../../adapters/artifact-cache.ts';
import { ASSERTION_TYPE, assertedClient, isAsserted } from '../../adapters/client-assertion.ts';
import type { FindLiveKey } from '../../credentials/credentials.module.ts';
import { recognise } from '../../streams/key-secret.ts';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import { applications, type ExistingApplication } from '../../workspaces/workspaces.module.ts';
import type { ClientFailureReason } from '../client-failures/client-failure.ts';
import type { LiveToken } from './live-tokens.ts';

export type IntrospectionCaller =
  | { readonly by: 'nobody' }
  | { readonly by: 'service' }
  /** `id` is the key by which requests are counted. */
  | { readonly by: 'tenant'; readonly tenantId: string; readonly id: string };
type Refused = {
  readonly refused: 'invalid_client' | 'insufficient_scope';
  /** An application that exists and was named, but did not authenticate. */
  readonly named?: {
    readonly tenantId: string;
    readonly clientId: string;
    readonly reason: ClientFailureReason;
  };
};

type Dependencies = {
  readonly snapshots: Pick<SnapshotCache, 'find'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly artifacts: Pick<ArtifactCache, 'use'>;
  readonly settings: Pick<Settings, 'ISSUER'>;
  readonly findLiveKey: FindLiveKey;
  readonly liveToken: LiveToken;
  /** Whether the header has the bearer token of the deployment's own services. */
  readonly isService: (authorization: string | undefined) => boolean;
};

type Shown = {
  readonly authorization: string | undefined;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly client_assertion?: string | undefined;
  readonly client_assertion_type?: string | undefined;
};

const SCOPE = 'tokens:introspect';
const REFUSED: Refused = { refused: 'invalid_client' };

export async function callerOf(
  needs: Dependencies,
  shown: Shown,
): Promise<IntrospectionCaller | Refused> {
  const { authorization, client_id, client_secret, client_assertion } = shown;
  const credentials = [authorization, client_secret, client_assertion];
  if (credentials.filter((each) => each !== undefined).length > 1) return REFUSED;
  if (client_assertion !== undefined) return byAssertion(needs, shown, client_assertion);
  if (client_secret !== undefined) return bySecret(needs, client_id ?? '', client_secret);
  if (authorization === undefined) return { by: 'nobody' };
  if (needs.isService(authorization)) return { by: 'service' };
  const [, kind = '', credential = ''] = /^(\w+) +(\S+)$/.exec(authorization) ?? [];
  switch (kind.toLowerCase()) {
    case 'basic': {
      const [id, secret] = basicOf(credential);
      return bySecret(needs, id, secret);
    }
    case 'bearer':
      return credential.startsWith('svc_')
        ? byKey(needs, credential)
        : byMachine(needs, credential);
    default:
      return REFUSED;
  }
}

/** Authenticates a client by the method that it is registered with. */
async function byClient(
  { snapshots }: Dependencies,
  clientId: string,
  proven: (application: ExistingApplication) => Promise<ClientFailureReason | 'right'>,
): Promise<IntrospectionCaller | Refused> {
  const found = clientId === '' ? undefined : await snapshots.find(applications, clientId);
  if (found?.state.status !== 'active') return REFUSED;
  const { tenantId } = found;
  const reason = await proven(found.state);
  if (reason !== 'right') return { ...REFUSED, named: { tenantId, clientId, reason } };
  return { by: 'tenant', tenantId, id: clientId };
}

const bySecret = (needs: Dependencies, id: string, text: string) =>
  byClient(needs, id, async ({ secret, jwks }) => {
    if (secret === null || jwks.length > 0) return 'wrong_method';
    const key = parseKey(text);
    const now = needs.clock.now();
    const isRight = key?.kind === 'cs' && recognise(key.secret, secret, now) !== undefined;
    return isRight ? 'right' : 'wrong_secret';
  });

async function byAssertion(
  needs: Dependencies,
  { client_id, client_assertion_type }: Shown,
  assertion: string,
): Promise<IntrospectionCaller | Refused> {
  const clientId = assertedClient(assertion) ?? '';
  const isNamed = client_id === undefined || client_id === clientId;
  if (!isNamed || client_assertion_type !== ASSERTION_TYPE) return REFUSED;
  const { clock, artifacts, settings } = needs;
  return byClient(needs, clientId, async ({ jwks }) => {
    if (jwks.length === 0) return 'wrong_method';
    const audience = ['', '/oauth2/token', '/oauth2/introspect'].map(
      (path) => settings.ISSUER + path,
    );
    const asserted = { assertion, clientId, keys: jwks, audience, now: clock.now() };
    return (await isAsserted(artifacts, asserted)) ? 'right' : 'wrong_assertion';
  });
}

async function byKey(
  { findLiveKey }: Dependencies,
  credential: string,
): Promise<IntrospectionCaller | Refused> {
  const live = await findLiveKey(credential);
  if (live?.key.kind !== 'api_key') return REFUSED;
  const { id, tenantId, scopes } = live.key;
  if (!scopes.includes(SCOPE)) return { refused: 'insufficient_scope' };
  return { by: 'tenant', tenantId, id };
}

/**
 * A machine authenticates with a bearer token for Cardea's own API. A sender-constrained token would need its proof, so
 * it is refused.
 */
async function byMachine(
  { liveToken, settings }: Dependencies,
  credential: string,
): Promise<IntrospectionCaller | Refused> {
  const claims = (await liveToken(credential))?.claims;
  if (claims === undefined || !isOfMachine(claims) || boundKeyOf(claims) !== undefined) {
    return REFUSED;
  }
  if (claims['aud'] !== `${settings.ISSUER}/api`) return REFUSED;
  if (!String(claims['scope']).split(' ').includes(SCOPE)) return { refused: 'insufficient_scope' };
  return { by: 'tenant', tenantId: claims.tid, id: claims.sub };
}

/** RFC 6749, 2.3.1: both parts are form-encoded before they are joined. */
function basicOf(credential: string): readonly [string, string] {
  const text = Buffer.from(credential, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon === -1) return ['', ''];
  try {
    const [id, secret] = [text.slice(0, colon), text.slice(colon + 1)].map(decodeURIComponent);
    return [storedId(id ?? ''), secret ?? ''];
  } catch {
    return ['', ''];
  }
}
