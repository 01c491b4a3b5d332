/** What is over before its credentials run out: users, ranks, agents, keys and sessions. */
import type { Module, ServiceNeeds } from '@cardea/service';
import type { UserDirectory } from '../accounts/accounts.module.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import { endings } from './endings.ts';
import { standingMarks } from './marks.ts';
import { revocationsProjection } from './revocations.projection.ts';

export { revokingStreams } from './revoking-streams.ts';

type Needs = Pick<
  ServiceNeeds,
  'cache' | 'clock' | 'database' | 'positions' | 'revocations' | 'settings' | 'store' | 'streams'
> & {
  readonly snapshots: SnapshotCache;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

export const revocationsModule = (needs: Needs): Module => ({
  projections: [revocationsProjection],
  start: async () => {
    await needs.revocations.keepFilled(() => standingMarks(needs));
  },
  offers: { identity: { ended: endings(needs) } },
});
