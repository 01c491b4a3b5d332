/** API keys, and what all opaque keys share: their format, their secret, their last use. */

import type { IntrospectedKey } from '@cardea/auth';
import type { Module, ServiceDependencies } from '@cardea/service';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import {
  createApiKeyRoute,
  listApiKeysRoute,
  listScopesRoute,
  revokeApiKeyRoute,
  rotateApiKeyRoute,
} from './api-keys/administer/administer.route.ts';
import { apiKeys } from './api-keys/api-key.ts';
import { apiKeysProjection } from './api-keys/api-keys.projection.ts';
import { credentialsRelay } from './credentials-relay.ts';
import { introspector, type LiveKey, liveKeyOf } from './introspection.ts';
import { keyUses } from './key-uses/key-use.ts';
import { notedUses } from './key-uses/noted-uses.ts';
import type { OpaqueKey } from './live-key.ts';
import { takeBackReclaimedKeys } from './take-back-reclaimed.policy.ts';

export {
  afterRotation,
  firstSecret,
  type KeySecret,
  rotatedSecret,
  stampsEndedBy,
} from '../streams/key-secret.ts';
export { type ApiKeyEvent, apiKeys } from './api-keys/api-key.ts';
export type { LiveKey } from './introspection.ts';
export { drawKey, drawSecret, environmentOf, futureMoment } from './key-issuing.ts';
export type { KeyUsed } from './key-uses/key-use.ts';
export { liveKey, type OpaqueKey } from './live-key.ts';

type Dependencies = Pick<
  ServiceDependencies,
  | 'clock'
  | 'command'
  | 'database'
  | 'ids'
  | 'log'
  | 'positions'
  | 'random'
  | 'sealer'
  | 'streams'
  | 'systemCommand'
> & {
  readonly snapshots: SnapshotCache;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  /** Finds the agent of an agent key. */
  readonly agentOfKey: (key: OpaqueKey) => Promise<IntrospectedKey | undefined>;
};

/** Finds the owner of a live key without recording a use. */
export type FindLiveKey = (token: string) => Promise<LiveKey | undefined>;

export const findLiveKey =
  (needs: Pick<Dependencies, 'agentOfKey' | 'clock' | 'snapshots' | 'workspaces'>): FindLiveKey =>
  (token) =>
    liveKeyOf(needs, token);

export const credentialsModule = (needs: Dependencies): Module => ({
  endpoints: [
    createApiKeyRoute(needs),
    listApiKeysRoute(needs),
    listScopesRoute(),
    rotateApiKeyRoute(needs),
    revokeApiKeyRoute(needs),
  ],
  projections: [apiKeysProjection],
  policies: [takeBackReclaimedKeys(needs)],
  relay: credentialsRelay,
  offers: { identity: { introspect: introspector({ ...needs, noteUse: notedUses(needs) }) } },
});

export const credentialsStreams = [apiKeys, keyUses];
