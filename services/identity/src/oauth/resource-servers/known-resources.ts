/**
 * The resources for which a tenant's applications may request tokens: Cardea's own API, which every tenant has, and the
 * tenant's resource servers. They are read from streams, so a deletion takes effect at once.
 */

import { DEPLOYMENT_TENANT } from '@cardea/contracts';
import type { Sealer } from '@cardea/crypto';
import type { Settings } from '@cardea/runtime';
import { readOwner, resourceReservations } from '../../streams/reservation.ts';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import { type ResourceScope, resourceServers } from './resource-server.ts';

export type KnownResource = {
  readonly identifier: string;
  readonly name: string;
  readonly scopes: readonly ResourceScope[];
  readonly tokenTtlSeconds: number;
};

/** Scopes of the built-in resource. Some of them are standard scopes of OpenID Connect. */
export const BUILT_IN_SCOPES = {
  openid: 'Know who you are',
  profile: 'See your name, user name, picture and language',
  email: 'See your e-mail address',
  offline_access: 'Stay signed in while you are away',
  roles: 'Act with your roles',
  account: 'Act as you in your account',
} as const;
export type BuiltInScope = keyof typeof BUILT_IN_SCOPES;
export const isBuiltInScope = (name: string): name is BuiltInScope =>
  Object.hasOwn(BUILT_IN_SCOPES, name);

export type KnownResources = {
  readonly builtIn: string;
  readonly find: (tenantId: string, identifier: string) => Promise<KnownResource | undefined>;
  /** Finds a resource of any tenant. */
  readonly owner: (identifier: string) => Promise<{ readonly tenantId: string } | undefined>;
};

type Dependencies = {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly sealer: Pick<Sealer, 'indexHash'>;
  readonly settings: Pick<Settings, 'ISSUER' | 'JWT_EXPIRY'>;
};

/** The identifier of Cardea's own API. */
export const builtInResource = ({ ISSUER }: Pick<Settings, 'ISSUER'>): string => `${ISSUER}/api`;

export const identifierHash = (sealer: Pick<Sealer, 'indexHash'>, identifier: string) =>
  sealer.indexHash('deployment', 'resource', identifier);

export function knownResources({ snapshots, sealer, settings }: Dependencies): KnownResources {
  const builtIn = builtInResource(settings);
  const reserved = async (identifier: string) => {
    const id = await identifierHash(sealer, identifier);
    const held = await snapshots.load(resourceReservations, { tenantId: DEPLOYMENT_TENANT, id });
    return held.status === 'held' ? readOwner(held.ownerId) : undefined;
  };
  return {
    builtIn,
    owner: reserved,
    find: async (tenantId, identifier) => {
      if (identifier === builtIn) {
        const scopes = Object.entries(BUILT_IN_SCOPES);
        return {
          identifier,
          name: 'Account',
          scopes: scopes.map(([name, description]) => ({ name, description })),
          tokenTtlSeconds: settings.JWT_EXPIRY,
        };
      }
      const owner = await reserved(identifier);
      if (owner === undefined || owner.tenantId !== tenantId) return undefined;
      const server = await snapshots.load(resourceServers, { tenantId, id: owner.userId });
      if (server.status !== 'active') return undefined;
      return {
        identifier,
        name: server.name,
        scopes: server.scopes,
        tokenTtlSeconds: server.token_ttl_seconds,
      };
    },
  };
}
