/**
 * Who asks about a token. Holding it is proof enough unless the deployment asks for more; but a credential
 * that is shown has to be right, and limits the answer to its own tenant.
 */
import { parseKey } from '@cardea/crypto';
import type { Clock } from '@cardea/runtime';
import type { FindLiveKey } from '../../credentials/credentials.module.ts';
import { recognise } from '../../streams/key-secret.ts';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import { applications } from '../../workspaces/workspaces.module.ts';

export type IntrospectionCaller =
  | { readonly by: 'nobody' }
  | { readonly by: 'service' }
  /** `id` counts its requests. */
  | { readonly by: 'tenant'; readonly tenantId: string; readonly id: string };
type Refused = { readonly refused: 'invalid_client' | 'insufficient_scope' };

type Dependencies = {
  readonly snapshots: Pick<SnapshotCache, 'find'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly findLiveKey: FindLiveKey;
  /** Whether the header is the bearer of the deployment's own services. */
  readonly isService: (authorization: string | undefined) => boolean;
};

type Shown = {
  readonly authorization: string | undefined;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
};

const SCOPE = 'tokens:introspect';
const REFUSED: Refused = { refused: 'invalid_client' };

export async function callerOf(
  needs: Dependencies,
  shown: Shown,
): Promise<IntrospectionCaller | Refused> {
  const { authorization, client_id, client_secret } = shown;
  if (authorization === undefined) {
    if (client_secret === undefined) return { by: 'nobody' };
    return byClient(needs, client_id ?? '', client_secret);
  }
  if (needs.isService(authorization)) return { by: 'service' };
  const [, kind = '', credential = ''] = /^(\w+) +(\S+)$/.exec(authorization) ?? [];
  switch (kind.toLowerCase()) {
    case 'basic': {
      const [id, secret] = basicOf(credential);
      return byClient(needs, id, secret);
    }
    case 'bearer':
      return byKey(needs, credential);
    default:
      return REFUSED;
  }
}

async function byClient(
  { snapshots, clock }: Dependencies,
  id: string,
  text: string,
): Promise<IntrospectionCaller | Refused> {
  const key = parseKey(text);
  const found = id === '' ? undefined : await snapshots.find(applications, id);
  if (key?.kind !== 'cs' || found?.state.status !== 'active') return REFUSED;
  const { secret } = found.state;
  if (secret === null || recognise(key.secret, secret, clock.now()) === undefined) return REFUSED;
  return { by: 'tenant', tenantId: found.tenantId, id };
}

async function byKey(
  { findLiveKey }: Dependencies,
  credential: string,
): Promise<IntrospectionCaller | Refused> {
  const live = credential.startsWith('svc_') ? await findLiveKey(credential) : undefined;
  if (live?.key.kind !== 'api_key') return REFUSED;
  const { id, tenantId, scopes } = live.key;
  if (!scopes.includes(SCOPE)) return { refused: 'insufficient_scope' };
  return { by: 'tenant', tenantId, id };
}

/** RFC 6749, 2.3.1: both halves are form-encoded before they are joined. */
function basicOf(credential: string): readonly [string, string] {
  const text = Buffer.from(credential, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon === -1) return ['', ''];
  try {
    return [decodeURIComponent(text.slice(0, colon)), decodeURIComponent(text.slice(colon + 1))];
  } catch {
    return ['', ''];
  }
}
