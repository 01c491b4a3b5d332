/** Wires the sign-in to Cardea's own pages. */
import type { Endpoint } from '@cardea/http';
import { pageCookies } from '@cardea/pages';
import type { Offers, ServiceDependencies } from '@cardea/service';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import type { Workspaces } from '../../workspaces/workspaces.module.ts';
import { pageProofs } from './page-proofs.ts';
import { pageSignInRoutes } from './page-sign-in.route.ts';
import { pageTokens } from './page-tokens.ts';
import { tenantOfName } from './tenant-of-name.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'database' | 'derive' | 'limits' | 'pageKeys' | 'sealer' | 'settings'
> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
} & Omit<Parameters<typeof pageTokens>[0], 'clock' | 'settings'> &
  Omit<Parameters<typeof pageProofs>[0], 'pageTokens'> &
  Pick<Parameters<typeof pageSignInRoutes>[0], 'applicationSessions' | 'onward' | 'server'>;

export function pageSignInModule(given: Dependencies): {
  readonly endpoints: readonly Endpoint[];
  readonly offers: Offers;
} {
  const tokens = pageTokens(given);
  const needs = {
    ...given,
    findTenant: tenantOfName(given),
    flowKeys: given.derive('JWT_SECRET', 'page-flow/v1'),
    pageCookies: pageCookies(given.pageKeys, given.settings),
    pageTokens: tokens,
  };
  return {
    endpoints: pageSignInRoutes(needs),
    offers: { identity: { pageToken: tokens.renew, ...pageProofs(needs) } },
  };
}
