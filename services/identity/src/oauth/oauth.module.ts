/** The authorization server: resource servers. */
import type { Module, ServiceDependencies } from '@cardea/service';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import { oauthRelay } from './oauth-relay.ts';
import {
  createResourceServerRoute,
  deleteResourceServerRoute,
  listResourceServersRoute,
} from './resource-servers/administer/administer.route.ts';
import { resourceServers } from './resource-servers/resource-server.ts';
import { resourceServersProjection } from './resource-servers/resource-servers.projection.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'command' | 'database' | 'ids' | 'sealer' | 'settings' | 'streams'
> & {
  readonly snapshots: SnapshotCache;
};

export const oauthModule = (needs: Dependencies): Module => ({
  endpoints: [
    createResourceServerRoute(needs),
    listResourceServersRoute(needs),
    deleteResourceServerRoute(needs),
  ],
  projections: [resourceServersProjection],
  relay: oauthRelay,
});

export const oauthStreams = [resourceServers];
