/** Revocation of users, ranks, agents, keys and sessions before their credentials expire. */
import type { Module, ServiceDependencies } from '@cardea/service';
import type { UserDirectory } from '../accounts/accounts.module.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import { raiseChangesFloor } from './raise-changes-floor.ts';
import { revocationList } from './revocation-list.ts';
import { revocationsProjection } from './revocations.projection.ts';
import { revokedByStream } from './revoked-by-stream.ts';

export { revokedByStream } from './revoked-by-stream.ts';
export { streamsWithRevocations } from './streams-with-revocations.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'cache' | 'clock' | 'database' | 'positions' | 'revocations' | 'settings' | 'store' | 'streams'
> & {
  readonly snapshots: SnapshotCache;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

export const revocationsModule = (needs: Dependencies): Module => ({
  projections: [revocationsProjection],
  loops: [raiseChangesFloor(needs)],
  start: async () => {
    await needs.revocations.keepFilled(() => revocationList(needs));
  },
  offers: { identity: { ended: revokedByStream(needs) } },
});
