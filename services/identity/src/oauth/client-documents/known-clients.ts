/**
 * Whether a client may still act: a registered application that exists, or a self-described client whose tenant allows
 * it.
 */
import type { Settings } from '@cardea/runtime';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import {
  applications,
  type TenantFacts,
  type Workspaces,
} from '../../workspaces/workspaces.module.ts';
import { pagesClientId } from '../page-sign-in/pages-client.ts';
import { isDocumentId } from './client-document.ts';

export type IsKnownClient = (tenantId: string, clientId: string) => Promise<boolean>;

export const letsDocumentsIn = (
  tenant: TenantFacts | undefined,
  { ENV }: Pick<Settings, 'ENV'>,
): tenant is TenantFacts =>
  tenant !== undefined && (tenant.settings.oauth.cimd_enabled ?? ENV === 'development');

export const knownClients =
  (needs: {
    readonly snapshots: Pick<SnapshotCache, 'load'>;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly settings: Pick<Settings, 'ENV'>;
  }): IsKnownClient =>
  async (tenantId, id) => {
    if (id === pagesClientId(tenantId)) return true;
    if (isDocumentId(id)) {
      return letsDocumentsIn(await needs.workspaces.tenant(tenantId), needs.settings);
    }
    return (await needs.snapshots.load(applications, { tenantId, id })).status === 'active';
  };
