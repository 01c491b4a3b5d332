/**
 * Fetches client documents. They are fetched from public addresses only, and only for tenants that allow such clients.
 */
import type { Outbound } from '@cardea/http';
import type { Settings } from '@cardea/runtime';
import type { ArtifactCache } from '../../adapters/artifact-cache.ts';
import type { TenantFacts, Workspaces } from '../../workspaces/workspaces.module.ts';
import type { KnownResources } from '../resource-servers/known-resources.ts';
import { documentMetadata, isDocumentId, readDocument } from './client-document.ts';
import { letsDocumentsIn } from './known-clients.ts';

export const DOCUMENT_BYTES_MAX = 64 * 1024;
export const DOCUMENT_WAIT_MS = 5_000;
/** Seconds for which a document stays in the cache: longer than the library uses a document that it has fetched. */
const KEPT_SECONDS = 24 * 3_600;
const MODEL = 'ClientDocument';

export type ClientDocuments = {
  /** Fetches for the library. Only an accepted document is answered with status 200. */
  readonly fetch: (url: string) => Promise<Response>;
  /** The tenant that owns the resource; undefined if that tenant does not allow such clients. */
  readonly tenantOf: (resource: string) => Promise<TenantFacts | undefined>;
  readonly nameOf: (clientId: string) => Promise<string>;
};

type Dependencies = {
  readonly settings: Pick<Settings, 'ENV'>;
  readonly outbound: Pick<Outbound, 'send'>;
  readonly artifacts: Pick<ArtifactCache, 'find' | 'put'>;
  readonly resources: Pick<KnownResources, 'find' | 'owner'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export function clientDocuments(needs: Dependencies): ClientDocuments {
  const { artifacts, resources, workspaces, settings } = needs;
  return {
    fetch: async (url) => {
      if (!isDocumentId(url)) return REFUSED();
      const headers = { accept: 'application/json' };
      const answer = await needs.outbound.send({ url, method: 'GET', headers });
      if (answer.status !== 200 || answer.body.length > DOCUMENT_BYTES_MAX) return REFUSED();
      const found = readDocument(url, answer.body.toString('utf8'));
      if (found === undefined) return REFUSED();
      await artifacts.put(MODEL, url, found, KEPT_SECONDS);
      return Response.json(documentMetadata(url, found));
    },
    tenantOf: async (resource) => {
      const owner = await resources.owner(resource);
      if (owner === undefined) return undefined;
      const [known, tenant] = await Promise.all([
        resources.find(owner.tenantId, resource),
        workspaces.tenant(owner.tenantId),
      ]);
      return known !== undefined && letsDocumentsIn(tenant, settings) ? tenant : undefined;
    },
    nameOf: async (clientId) => {
      const found = await artifacts.find(MODEL, clientId);
      return String(found?.value['name'] ?? new URL(clientId).host);
    },
  };
}

const REFUSED = () => new Response(null, { status: 422 });
