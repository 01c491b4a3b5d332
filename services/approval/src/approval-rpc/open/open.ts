/** The facts of a request that vault opens when a policy requires approval. */
import type { OpenApproval } from '@cardea/contracts';
import { cleaned } from '@cardea/runtime';
import { COOL_DOWN_MS, type RequestFacts, VEND_ACTION } from '../../requests/requests.module.ts';

/** The queue keeps the entry until a vend can no longer consume it and its cool-down has ended. */
export const entryUntil = (
  open: Pick<OpenApproval, 'use_window_seconds'>,
  expiresAt: string,
): string =>
  new Date(
    Date.parse(expiresAt) + Math.max(open.use_window_seconds * 1000, COOL_DOWN_MS),
  ).toISOString();

export function vendFacts(
  open: OpenApproval,
  of: {
    readonly id: string;
    readonly agentName: string;
    readonly userVouched: boolean;
    /** The user who has to decide, or their deputy. */
    readonly userId: string;
    readonly channels: readonly string[];
    readonly reason: NonNullable<RequestFacts['reason']>;
    readonly purpose: RequestFacts['purpose'];
    readonly ip: RequestFacts['ip'];
    readonly code: NonNullable<RequestFacts['binding']>['code'];
  },
  now: Date,
): RequestFacts {
  const maxAge = open.max_auth_age_seconds;
  return {
    id: of.id,
    tenant_id: open.tenant_id,
    ...(open.app_id === undefined || open.app_id === null ? {} : { app_id: open.app_id }),
    agent_id: open.agent_id,
    agent_name: of.agentName,
    user_id: of.userId,
    ...(of.userId === open.user_id ? {} : { deputy_for: open.user_id }),
    action: VEND_ACTION,
    resource: open.service_name,
    reason: of.reason,
    ...(of.purpose === undefined ? {} : { purpose: of.purpose }),
    ...(of.ip === undefined ? {} : { ip: of.ip }),
    severity: open.severity,
    ttl_seconds: open.ttl_seconds,
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + open.ttl_seconds * 1000).toISOString(),
    origin: 'vend',
    user_vouched: of.userVouched,
    channels: of.channels,
    ...askedSeveral(open),
    ...sessionUser(open),
    binding: {
      digest: open.digest,
      session_id: open.session_id,
      service_name: open.service_name,
      fields: open.fields,
      policies: open.policies.map(policyOf),
      use_window_seconds: open.use_window_seconds,
      grant_ttl_seconds: open.grant_ttl_seconds,
      ...(maxAge === undefined || maxAge === null ? {} : { max_auth_age_seconds: maxAge }),
      number_match: open.number_match,
      ...(open.vouch_required === true ? { vouch_required: true } : {}),
      ...(open.outlives_session === true ? { outlives_session: true } : {}),
      code: of.code,
    },
  };
}

/** An administrator wrote the name, so it is shown without invisible characters. */
function policyOf({ id, version, name }: OpenApproval['policies'][number]) {
  const shown = cleaned(name ?? '');
  return shown === '' ? { id, version } : { id, version, name: shown };
}

/** Fields of requests that several persons may decide. */
function askedSeveral(open: OpenApproval) {
  const { needed, exclude_session_user: excludes } = open;
  const approver = open.approver ?? undefined;
  const escalate = open.escalate ?? undefined;
  if (approver === undefined && escalate === undefined) return {};
  return {
    ...(approver === undefined ? {} : { approver, needed: needed ?? 1 }),
    ...(escalate === undefined ? {} : { escalate }),
    ...(excludes === true ? { exclude_session_user: true } : {}),
  };
}

/** If the request does not end with the session, it ends with the person for whom the agent acts. */
function sessionUser({ session_user_id: id }: OpenApproval) {
  return id === undefined || id === null ? {} : { session_user_id: id };
}
