/**
 * The digest of an action covers everything that the person is asked to approve. It is compared when the approval is
 * used, so that any other action is refused, even if it differs in one byte only.
 */
import { sha256Of } from '@cardea/crypto';
import { canonicalJson } from '@cardea/http';
import type { ActionBinding, RequestFacts } from '../approval-requests/request.ts';
import { USE_WINDOW_SECONDS } from '../limits.ts';
import type { Details } from './details.ts';

type ActionFacts = Pick<RequestFacts, 'tenant_id' | 'agent_id' | 'user_id' | 'action' | 'resource'>;

/** The fields to which a caller may bind an approval. Each of them makes the request one for an action. */
export type ActionWanted = {
  readonly details?: Details;
  readonly action_digest?: string;
  readonly use_window_seconds?: number;
};

/** The fields that are sent to use an approval. At least one of the three is required. */
export type ActionSent = {
  readonly details?: Details;
  readonly action_digest?: string;
  readonly digest?: string;
};

export const isAction = ({ details, action_digest, use_window_seconds }: ActionWanted): boolean =>
  details !== undefined || action_digest !== undefined || use_window_seconds !== undefined;

export function actionBindingOf(facts: ActionFacts, wanted: ActionWanted): ActionBinding {
  const { action_digest, use_window_seconds = USE_WINDOW_SECONDS.usual } = wanted;
  const digest = digestOf(facts, wanted);
  const own = action_digest === undefined ? {} : { action_digest };
  return { digest, ...own, use_window_seconds };
}

/** Whether everything that was sent equals what the person was asked to approve. */
export function isSameAction(
  facts: ActionFacts,
  { digest, action_digest }: ActionBinding,
  sent: ActionSent,
): boolean {
  if (sent.digest !== undefined && sent.digest !== digest) return false;
  if (sent.action_digest !== undefined && sent.action_digest !== action_digest) return false;
  if (sent.details === undefined) return true;
  const own = action_digest === undefined ? {} : { action_digest };
  return digestOf(facts, { details: sent.details, ...own }) === digest;
}

/** Writes `details` in the form of RFC 8785 (JCS), so that the order of their members does not matter. */
function digestOf(
  facts: ActionFacts,
  { details, action_digest = '' }: Pick<ActionWanted, 'details' | 'action_digest'>,
): string {
  const { tenant_id, agent_id, user_id, action, resource = '' } = facts;
  const canonical = details === undefined ? '' : canonicalJson(details);
  return sha256Of(
    'action.v1',
    tenant_id,
    agent_id,
    user_id,
    action,
    resource,
    canonical,
    action_digest,
  ).toString('hex');
}
