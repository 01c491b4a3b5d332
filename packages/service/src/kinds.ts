/** Every integration event of the product by its source, type and version. */
import {
  approvalEvents,
  auditEvents,
  authzEvents,
  type IntegrationEventKind,
  identityEvents,
  type ServiceName,
  vaultEvents,
  webhooksEvents,
} from '@cardea/contracts';

const published = {
  identity: identityEvents,
  authz: authzEvents,
  vault: vaultEvents,
  approval: approvalEvents,
  webhooks: webhooksEvents,
  audit: auditEvents,
} as const;

export const kindOf = (
  source: string,
  type: string,
  version: number,
): IntegrationEventKind | undefined => published[source as ServiceName]?.kind(type, version);
