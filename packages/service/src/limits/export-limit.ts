/**
 * Limits a tenant to two concurrent exports over all replicas. Each export occupies one of the tenant's two entries in
 * the shared cache. While the cache is unavailable every replica counts separately.
 */
import { CacheUnavailable } from '@cardea/runtime';
import type { ServiceDependencies } from '../service.ts';

export const EXPORTS_PER_TENANT_MAX = 2;
/** The time limit of an export. The entry of a killed process expires a little later. */
export const EXPORT_MS_MAX = 5 * 60_000;
const SLOT_MS = EXPORT_MS_MAX + 30_000;

export type ExportLimit = {
  /** Takes an entry and returns the function that releases it. Undefined when none is free. */
  readonly take: (tenantId: string) => Promise<(() => Promise<void>) | undefined>;
};

type Dependencies = {
  readonly cache: Pick<ServiceDependencies['cache'], 'setIfAbsent' | 'delete'>;
  /** The kind of the export. Its entries have separate keys. */
  readonly family: 'audit-export' | 'users-export';
};

export function exportLimit({ cache, family }: Dependencies): ExportLimit {
  const running = new Map<string, number>();
  const count = (tenantId: string, by: number): void => {
    const left = (running.get(tenantId) ?? 0) + by;
    if (left === 0) running.delete(tenantId);
    else running.set(tenantId, left);
  };
  const shared = async (tenantId: string): Promise<string | undefined> => {
    for (let slot = 1; slot <= EXPORTS_PER_TENANT_MAX; slot += 1) {
      const key = `${family}:${tenantId}:${slot}`;
      if (await cache.setIfAbsent(key, 'taken', SLOT_MS)) return key;
    }
    return undefined;
  };
  return {
    take: async (tenantId) => {
      if ((running.get(tenantId) ?? 0) >= EXPORTS_PER_TENANT_MAX) return undefined;
      count(tenantId, 1);
      try {
        const key = await shared(tenantId);
        if (key === undefined) {
          count(tenantId, -1);
          return undefined;
        }
        return async () => {
          count(tenantId, -1);
          await cache.delete(key).catch(unlessAway);
        };
      } catch (error) {
        if (error instanceof CacheUnavailable) return async () => count(tenantId, -1);
        count(tenantId, -1);
        throw error;
      }
    },
  };
}

/** While the cache is unavailable, an entry is not removed. It expires later. */
function unlessAway(error: unknown): void {
  if (!(error instanceof CacheUnavailable)) throw error;
}
