/**
 * Introspection of opaque keys. The authentication pipeline has checked the checksum. Here the key's stream, secret,
 * expiry and owner are checked. A key that is not live is reported as unknown.
 */
import type { IntrospectedKey } from '@cardea/auth';
import { parseKey } from '@cardea/crypto';
import type { Clock, Logger } from '@cardea/runtime';
import type { Peers } from '@cardea/service';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import { apiKeys } from './api-keys/api-key.ts';
import type { NoteUse } from './key-uses/noted-uses.ts';
import { liveKey, type OpaqueKey } from './live-key.ts';

type Dependencies = {
  readonly snapshots: Pick<SnapshotCache, 'find'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Called for every use. It resolves after the use is recorded. */
  readonly noteUse: NoteUse;
  readonly agentOfKey: (key: OpaqueKey) => Promise<IntrospectedKey | undefined>;
};

export const introspector =
  (needs: Dependencies): Peers['identity']['introspect'] =>
  async ({ token }) => {
    const live = await liveKeyOf(needs, token);
    if (live === undefined) return { key: null };
    const { key, parsed } = live;
    const { id, kind } = parsed;
    // The call is not awaited, because recording the last use must not delay or refuse a request.
    needs.noteUse({ id, kind, tenantId: key.tenantId }).catch(() => {
      needs.log.warn({ keyId: id }, 'the use of a key was not noted');
    });
    return { key };
  };

/** A live key and its owner. Finding it records no use. */
export type LiveKey = { readonly key: IntrospectedKey; readonly parsed: OpaqueKey };

export async function liveKeyOf(
  needs: Omit<Dependencies, 'log' | 'noteUse'>,
  token: string,
): Promise<LiveKey | undefined> {
  const parsed = parseKey(token);
  if (parsed?.kind !== 'svc' && parsed?.kind !== 'agk') return undefined;
  const key = parsed.kind === 'svc' ? await apiKey(needs, parsed) : await needs.agentOfKey(parsed);
  if (key === undefined) return undefined;
  if ((await needs.workspaces.tenant(key.tenantId)) === undefined) return undefined;
  return { key, parsed };
}

async function apiKey(
  needs: Pick<Dependencies, 'clock' | 'snapshots'>,
  presented: OpaqueKey,
): Promise<IntrospectedKey | undefined> {
  const found = await needs.snapshots.find(apiKeys, presented.id);
  if (found?.state.status !== 'active') return undefined;
  const { key, secret } = found.state;
  const live = liveKey(needs, presented, { ...key, secret });
  if (live === undefined) return undefined;
  return {
    kind: 'api_key',
    id: key.id,
    tenantId: found.tenantId,
    scopes: key.scopes,
    environment: key.environment,
    appId: key.app_id,
    ...live,
  };
}
