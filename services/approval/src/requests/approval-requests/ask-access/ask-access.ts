/** The access that an agent requests for a limited time, in the form that an administrator reads and approves. */
import { type ApproverSet, printApproverSet } from '@cardea/contracts';
import { cut } from '@cardea/runtime';
import { ACCESS_ACTION, type AccessWanted, type RequestFacts } from '../request.ts';

/** The maximum length of a name is that of any resource. */
const NAMES_MAX_CHARS = 200;

/**
 * Merges the request so that each service and each of its fields appears once. The approver then reads exactly what is
 * given.
 */
export function merged(services: AccessWanted['services']): AccessWanted['services'] {
  const fields = new Map<string, ReadonlySet<string>>();
  for (const { service_name, fields: wanted } of services) {
    fields.set(service_name, new Set([...(fields.get(service_name) ?? []), ...wanted]));
  }
  return [...fields].map(([service_name, names]) => ({ service_name, fields: [...names] }));
}

export function accessFactsOf(
  of: Pick<RequestFacts, 'id' | 'tenant_id' | 'agent_id' | 'agent_name' | 'channels'> &
    Partial<Pick<RequestFacts, 'app_id' | 'ip' | 'reason' | 'body_hash' | 'session_user_id'>>,
  asked: {
    readonly access: AccessWanted;
    readonly approver: ApproverSet;
    readonly ttlSeconds: number;
    readonly now: Date;
  },
): RequestFacts {
  const { access, approver, ttlSeconds, now } = asked;
  const names = access.services.map(({ service_name }) => service_name);
  return {
    ...of,
    user_id: printApproverSet(approver),
    user_vouched: true,
    origin: 'agent',
    action: ACCESS_ACTION,
    resource: cut(names.join(', '), NAMES_MAX_CHARS),
    severity: 'high',
    ttl_seconds: ttlSeconds,
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + ttlSeconds * 1000).toISOString(),
    approver,
    needed: 1,
    access,
  };
}
