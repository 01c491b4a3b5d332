/** What users let applications do in their name. */
import type { Module, ServiceDependencies } from '@cardea/service';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import { applications } from '../workspaces/workspaces.module.ts';
import { consents } from './consent.ts';
import { consentsProjection } from './consents.projection.ts';
import { consentsRelay } from './consents-relay.ts';
import { listConsentsRoute } from './list/list.route.ts';
import { revokeConsentRoute } from './revoke/revoke.route.ts';

export {
  type Consent,
  type ConsentEvent,
  consentId,
  consents,
  type GivenConsent,
  type Granted,
  grant,
  OPENID,
} from './consent.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'database' | 'streams'>;

/** The epoch of an active consent to an application that is still there; else null. */
export const consentEpochs =
  ({ snapshots }: { readonly snapshots: Pick<SnapshotCache, 'load'> }) =>
  async (tenantId: string, id: string): Promise<number | null> => {
    const consent = await snapshots.load(consents, { tenantId, id });
    if (consent.status !== 'active') return null;
    const application = await snapshots.load(applications, { tenantId, id: consent.clientId });
    return application.status === 'active' ? consent.epoch : null;
  };

export const consentsModule = (needs: Dependencies): Module => ({
  endpoints: [listConsentsRoute(needs), revokeConsentRoute(needs)],
  projections: [consentsProjection],
  relay: consentsRelay,
});

export const consentsStreams = [consents];
