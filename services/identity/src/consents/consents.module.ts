/** Consents of users to what applications may do in their name. */
import type { Module, ServiceDependencies } from '@cardea/service';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import { consents } from './consent.ts';
import { consentsProjection } from './consents.projection.ts';
import { consentsRelay } from './consents-relay.ts';
import { listConsentsRoute } from './list/list.route.ts';
import { revokeConsentRoute } from './revoke/revoke.route.ts';
import { takeBackReclaimedConsents } from './take-back-reclaimed.policy.ts';

export {
  type Consent,
  type ConsentEvent,
  type ConsentedClaim,
  consentId,
  consents,
  coversClaim,
  type GivenConsent,
  type Granted,
  grant,
  OPENID,
} from './consent.ts';
export { ConsentShape, shownConsents } from './list/list.route.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'command' | 'database' | 'positions' | 'streams' | 'systemCommand'
>;

/** The epoch of an active consent to a client that may still act; otherwise null. */
export const consentEpochs =
  ({
    snapshots,
    isKnownClient,
  }: {
    readonly snapshots: Pick<SnapshotCache, 'load'>;
    readonly isKnownClient: (tenantId: string, clientId: string) => Promise<boolean>;
  }) =>
  async (tenantId: string, id: string): Promise<number | null> => {
    const consent = await snapshots.load(consents, { tenantId, id });
    if (consent.status !== 'active') return null;
    return (await isKnownClient(tenantId, consent.clientId)) ? consent.epoch : null;
  };

export function consentsModule(needs: Dependencies) {
  /** Operations for the pages of a person's own account. */
  const selfService = {
    listConsents: listConsentsRoute(needs),
    revokeConsent: revokeConsentRoute(needs),
  };
  const module: Module = {
    endpoints: Object.values(selfService),
    projections: [consentsProjection],
    policies: [takeBackReclaimedConsents(needs)],
    relay: consentsRelay,
  };
  return { module, selfService };
}

export const consentsStreams = [consents];
