import { approvalEvents } from './events/approval.ts';
import { auditEvents } from './events/audit.ts';
import { authzEvents } from './events/authz.ts';
import { identityEvents } from './events/identity.ts';
import { vaultEvents } from './events/vault.ts';
import { webhooksEvents } from './events/webhooks.ts';
import type { IntegrationEventKind } from './integration-event.ts';

/** The published events of all services: what relays may send and consumers can read. */
export const EVENT_CATALOGUE = {
  identity: identityEvents,
  authz: authzEvents,
  vault: vaultEvents,
  approval: approvalEvents,
  webhooks: webhooksEvents,
  audit: auditEvents,
} as const;

const KINDS = new Map<string, IntegrationEventKind>(
  Object.values(EVENT_CATALOGUE)
    .flatMap((events) => events.kinds)
    .map((kind) => [kindKey(kind.source, kind.type, kind.version), kind]),
);

/** Undefined when this release does not know the type or the version. */
export const kindOf = (
  source: string,
  type: string,
  version: number,
): IntegrationEventKind | undefined => KINDS.get(kindKey(source, type, version));

function kindKey(source: string, type: string, version: number): string {
  return `${source}/${type}@${version}`;
}
