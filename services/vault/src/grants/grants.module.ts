/** Grants: which of a service's secrets an agent may use, in which session and until when. */
import { forgottenTenants, type Module, type ServiceDependencies } from '@cardea/service';
import { type Epochs, epochCache } from '../epochs.ts';
import type { IdentityFacts } from '../identity-facts/identity-facts.ts';
import type { PolicySet } from '../policies/policies.module.ts';
import type { ServiceParts, ServiceRecord } from '../services/services.module.ts';
import { clearAway } from './clear-away.policy.ts';
import { type GrantKeyState, grantKeys } from './grant-key.ts';
import { grantsProjection } from './grants.projection.ts';
import { identityConsumer } from './identity.consumer.ts';
import { getGrantRoute, listGrantsRoute } from './list/list.route.ts';
import { type ListOwnGrants, listOwnGrantsRoute } from './list-own/list-own.route.ts';
import { refusalRecorder, refusals as refusalStream } from './refusals.ts';
import { grantsRelay } from './relay.ts';
import { reuseCounter } from './reuse.ts';
import { revokeGrantRoute } from './revoke/revoke.route.ts';
import { bucket } from './vend/bucket.ts';
import { vendRoute } from './vend/vend.route.ts';
import { FORCED_PER_MINUTE_MAX } from './vend/vend.ts';

export type { ShownGrant } from './grant-list.ts';
export type { ListOwnGrants } from './list-own/list-own.route.ts';

export type GrantsDependencies = Omit<ServiceDependencies, 'sealer' | 'bus' | 'random'> &
  Pick<ServiceParts, 'catalog' | 'secrets'> & {
    readonly epochs: Epochs;
    readonly facts: IdentityFacts;
    readonly shredTenant: (tenantId: string, eventId: string) => Promise<void>;
  };

const BURST_FACTOR = 2;
const MINUTE_S = 60;

export function grantsModule(needs: GrantsDependencies): {
  readonly module: Module;
  readonly listOwnGrants: ListOwnGrants;
} {
  const { clock, settings, epochs } = needs;
  const rate = settings.VAULT_SESSION_RATE;
  const refusals = refusalRecorder(needs);
  const reuse = reuseCounter({ ...needs, alongside: () => refusals.flush() });
  const shared = {
    ...needs,
    refusals,
    reuse,
    caches: {
      services: epochCache<ServiceRecord | undefined>(clock),
      policies: epochCache<PolicySet>(clock),
      grantKeys: epochCache<GrantKeyState>(clock),
    },
    sessionRate: bucket(clock, { perSecond: rate, burst: rate * BURST_FACTOR }),
    forceRate: bucket(clock, {
      perSecond: FORCED_PER_MINUTE_MAX / MINUTE_S,
      burst: FORCED_PER_MINUTE_MAX,
    }),
  };
  const listOwnGrants = listOwnGrantsRoute(shared);
  const module: Module = {
    endpoints: [
      vendRoute(shared),
      listGrantsRoute(shared),
      listOwnGrants,
      getGrantRoute(shared),
      revokeGrantRoute(shared),
    ],
    projections: [grantsProjection(epochs.changedBefore)],
    relay: grantsRelay,
    consumers: [identityConsumer(shared, needs.shredTenant)],
    policies: [clearAway(shared)],
    loops: [reuse.loop],
    stop: async () => {
      await reuse.flush();
      await refusals.flush(true);
    },
  };
  return { module, listOwnGrants };
}

export const grantsStreams = [grantKeys, refusalStream, forgottenTenants];
