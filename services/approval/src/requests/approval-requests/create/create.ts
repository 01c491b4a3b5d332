/** Decides who may send requests to whom over REST, and what the request contains. */
import type { AgentPrincipal, UserPrincipal } from '@cardea/auth';
import { type ApproverSet, readApproverSet } from '@cardea/contracts';
import { cleaned, isClean } from '@cardea/runtime';
import { type ActionWanted, actionBindingOf, isAction } from '../../actions/action-binding.ts';
import { faultOfDetails } from '../../actions/details.ts';
import { TTL_SECONDS_DEFAULT } from '../../limits.ts';
import type { Origin, RequestFacts, Severity } from '../request.ts';

export type Wanted = ActionWanted & {
  readonly agent_id: string;
  readonly user_id: string;
  readonly action: string;
  readonly resource?: string;
  readonly reason?: string;
  readonly severity?: Severity;
  readonly ttl_seconds?: number;
  readonly approvals_needed?: number;
};

const USER_ID_MAX_CHARS = 128;

/** The set that `user_id` names. Undefined if it names a person. */
export const setIn = ({ user_id }: Pick<Wanted, 'user_id'>): ApproverSet | undefined =>
  readApproverSet(user_id);

/** Returns the fields of the body that contradict each other. */
export function misfits(
  body: Wanted,
): readonly { readonly field: string; readonly rule: string }[] {
  const { user_id, approvals_needed = 1, details } = body;
  const fault = details === undefined ? undefined : faultOfDetails(details);
  const ofDetails = fault === undefined ? [] : [{ field: 'details', rule: fault }];
  if (setIn(body) !== undefined) return ofDetails;
  return [
    ...ofDetails,
    ...(user_id.length > USER_ID_MAX_CHARS ? [{ field: 'user_id', rule: 'maxLength' }] : []),
    ...(approvals_needed > 1 ? [{ field: 'approvals_needed', rule: 'of_a_set' }] : []),
  ];
}

/** Names of the text fields that are empty after invisible characters are removed. */
export function unreadable(body: Wanted): readonly string[] {
  const ids = (['agent_id', 'user_id'] as const).filter((field) => !isClean(body[field]));
  const words = (['action', 'resource', 'reason'] as const).filter((field) => {
    const word = body[field];
    return word !== undefined && cleaned(word) === '';
  });
  return [...ids, ...words];
}

export const readable = (body: Wanted): Wanted => ({
  ...body,
  action: cleaned(body.action),
  ...(body.resource === undefined ? {} : { resource: cleaned(body.resource) }),
  ...(body.reason === undefined ? {} : { reason: cleaned(body.reason) }),
});

/** The columns of an agent's row that determine to whom it may send requests. */
type Asking = { readonly ownerUserId: string | null; readonly approvers: readonly string[] };

/** The caller's role. An agent's owner and approvers are known from the agent's row. */
export function originOf(
  principal: AgentPrincipal | UserPrincipal,
  wanted: Pick<Wanted, 'agent_id' | 'user_id'>,
  agent: Asking | undefined,
): { readonly origin: Origin } | { readonly refused: 'agent_mismatch' | 'user_not_allowed' } {
  switch (principal.kind) {
    case 'agent': {
      if (principal.id !== wanted.agent_id) return { refused: 'agent_mismatch' };
      const { ownerUserId = null, approvers = [] } = agent ?? {};
      const mine = [principal.userId, ownerUserId, ...approvers].includes(wanted.user_id);
      return mine ? { origin: 'agent' } : { refused: 'user_not_allowed' };
    }
    case 'user':
      // An impersonated user's token counts as an agent's token, but it names no agent.
      if (principal.impersonatedBy !== null) return { refused: 'agent_mismatch' };
      if (principal.id === wanted.user_id) return { origin: 'self' };
      return principal.roles.includes('admin')
        ? { origin: 'admin' }
        : { refused: 'user_not_allowed' };
  }
}

export function factsOf(
  wanted: Wanted,
  of: Pick<RequestFacts, 'id' | 'tenant_id' | 'agent_name' | 'origin' | 'channels'> &
    Partial<
      Pick<
        RequestFacts,
        | 'user_vouched'
        | 'app_id'
        | 'reason'
        | 'body_hash'
        | 'approver'
        | 'needed'
        | 'details'
        | 'session_user_id'
        | 'deputy_for'
        | 'ip'
      >
    >,
  now: Date,
): RequestFacts {
  const { agent_id, user_id, action, resource, severity = 'medium' } = wanted;
  const { ttl_seconds = TTL_SECONDS_DEFAULT } = wanted;
  const asked = { agent_id, user_id, action, ...(resource === undefined ? {} : { resource }) };
  const { tenant_id } = of;
  return {
    ...of,
    ...(isAction(wanted)
      ? { action_binding: actionBindingOf({ tenant_id, ...asked }, wanted) }
      : {}),
    ...asked,
    severity,
    ttl_seconds,
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + ttl_seconds * 1000).toISOString(),
  };
}
