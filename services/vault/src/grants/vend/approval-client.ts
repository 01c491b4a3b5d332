/** Opens, joins or consumes an approval request at the approval service. */
import {
  type ApproverSet,
  type NamedApprover,
  type OpenApproval,
  SESSION_BOUND_SECONDS_MAX,
} from '@cardea/contracts';
import { lengthPrefixed, sha256Of } from '@cardea/crypto';
import { type Clock, uuidFrom } from '@cardea/runtime';
import { type Peers, PeerUnavailable } from '@cardea/service';
import {
  type ApprovalRequirement,
  NOT_VOUCHED,
  type NoApproverReason,
  type PolicyVersion,
} from '../../policies/policies.module.ts';
import type { ServiceRecord } from '../../services/services.module.ts';

/** The request that the approver decides on. The digest binds the decision to all of it. */
export type Ask = {
  readonly tenantId: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly approverId: string;
  /** The set that may decide. `approverId` is then its text. */
  readonly set: ApproverSet | undefined;
  /** The person for whom the agent acts. */
  readonly userId: string | null;
  readonly service: ServiceRecord;
  readonly fields: readonly string[];
  /** The names of the policies are only shown to the approver. The digest does not include them. */
  readonly policies: readonly (PolicyVersion & { readonly name?: string })[];
  readonly requirement: ApprovalRequirement;
  readonly purpose: string | null;
  readonly commandId: string;
  readonly context: NonNullable<OpenApproval['context']> & { readonly app_id: string | null };
};

export type Waiting = {
  readonly id: string;
  readonly expires_in: number;
  readonly binding_message: string;
};
export type ApprovalRefusal =
  | 'NOT_FOUND'
  | 'NO_APPROVER'
  | 'APPROVAL_DENIED'
  | 'APPROVAL_MISMATCH'
  | 'APPROVAL_EXPIRED'
  | 'APPROVAL_CONSUMED'
  | 'APPROVAL_RATE_LIMITED';
export type ApprovalOutcome =
  | { readonly waiting: Waiting }
  | { readonly consumed: { readonly again: boolean; readonly use_before: string } }
  | {
      readonly refused: ApprovalRefusal;
      readonly retryAfterSeconds?: number;
      readonly reason?: NoApproverReason;
    };

const WAIT_MS = 2_000;
const CALLS_MAX = 2;

type Dependencies = { readonly approval: Peers['approval']; readonly clock: Clock };

export const digestOf = (ask: Ask): string =>
  severalMayDecide(ask) || outlivesSession(ask) ? digestWithRule(ask) : digestForPerson(ask);

const severalMayDecide = ({ set, requirement }: Ask): boolean =>
  set !== undefined || requirement.escalate !== null;

/** A decision may take longer than the session lasts. Another session may then use the approval. */
export const outlivesSession = ({
  requirement: { ttl_seconds, use_window_seconds },
}: Pick<Ask, 'requirement'>): boolean =>
  Math.max(ttl_seconds, use_window_seconds) > SESSION_BOUND_SECONDS_MAX;

/**
 * The id of the grant that an approval issues. It is the same for the same use. Only one of two sessions that could use
 * an approval succeeds.
 */
export const grantIdOf = (ask: Ask, approvalId: string): string =>
  uuidFrom('grant.v1', approvalId, digestOf(ask), ...(outlivesSession(ask) ? [ask.sessionId] : []));

/**
 * If the approval is bound to the session, these are its user and purpose. Otherwise they are empty for all sessions
 * that may use it.
 */
const sessionParts = (ask: Ask): readonly [session: string, user: string, purpose: string] =>
  outlivesSession(ask) ? ['', ask.userId ?? '', ask.purpose ?? ''] : [ask.sessionId, '', ''];

/** The digest includes who may decide and how many have to, because both are part of the request. */
const digestWithRule = (ask: Ask): string =>
  sha256Of(
    'vend.v3',
    ask.tenantId,
    ask.agentId,
    ...sessionParts(ask),
    canonicalRule(ask),
    ask.service.id,
    String(ask.service.config_version),
    lengthPrefixed(...ask.fields),
    lengthPrefixed(...ask.policies.map(({ id, version }) => `${id}:${version}`)),
    String(ask.service.default_ttl_seconds),
  ).toString('hex');

/** The keys are in the order of RFC 8785 (JCS). */
function canonicalRule({ set, approverId, requirement }: Ask): string {
  const approver = canonicalApprover(set ?? { user_id: approverId });
  const { exclude_session_user, approvals_needed: needed } = requirement;
  const escalate =
    requirement.escalate === null
      ? null
      : {
          after_seconds: requirement.escalate.after_seconds,
          approver: canonicalApprover(requirement.escalate.approver),
        };
  return JSON.stringify({ approver, escalate, exclude_session_user, needed });
}

function canonicalApprover(approver: NamedApprover): NamedApprover {
  if ('user_id' in approver) return { user_id: approver.user_id };
  if ('role' in approver) return { role: approver.role };
  const { object_id, object_type, relation } = approver;
  return { object_id, object_type, relation };
}

const digestForPerson = (ask: Ask): string =>
  sha256Of(
    'vend.v1',
    ask.tenantId,
    ask.agentId,
    ask.sessionId,
    ask.approverId,
    ask.service.id,
    lengthPrefixed(...ask.fields),
    lengthPrefixed(...ask.policies.map(({ id, version }) => `${id}:${version}`)),
    String(ask.service.default_ttl_seconds),
  ).toString('hex');

export async function openApproval(needs: Dependencies, ask: Ask): Promise<ApprovalOutcome> {
  const { requirement } = ask;
  const answer = await callWithRetry(needs, (approval, call) =>
    approval.open({
      command_id: ask.commandId,
      tenant_id: ask.tenantId,
      ...(ask.context.app_id === null ? {} : { app_id: ask.context.app_id }),
      digest: digestOf(ask),
      agent_id: ask.agentId,
      session_id: ask.sessionId,
      user_id: ask.approverId,
      ...askedSeveral(ask),
      ...overNight(ask),
      service_name: ask.service.name,
      fields: ask.fields,
      // A server of the previous release refuses names, so only the first call has them.
      policies:
        call === 1 ? ask.policies : ask.policies.map(({ id, version }) => ({ id, version })),
      severity: requirement.severity,
      ttl_seconds: requirement.ttl_seconds,
      use_window_seconds: requirement.use_window_seconds,
      grant_ttl_seconds: ask.service.default_ttl_seconds,
      ...(requirement.max_auth_age_seconds === null
        ? {}
        : { max_auth_age_seconds: requirement.max_auth_age_seconds }),
      number_match: requirement.number_match,
      vouch_required: requirement.approver_vouched,
      ...(ask.purpose === null ? {} : { purpose: ask.purpose }),
      context: ask.context,
    }),
  );
  switch (answer.outcome) {
    case 'opened':
    case 'joined':
      return { waiting: waitingOf(answer, answer.id) };
    case 'cooling_down':
    case 'muted':
      return { refused: 'APPROVAL_DENIED' };
    case 'rate_limited':
      return {
        refused: 'APPROVAL_RATE_LIMITED',
        retryAfterSeconds: answer.retry_after,
      };
    case 'user_inactive':
      return { refused: 'NO_APPROVER' };
    case 'user_not_vouched':
      return NOT_VOUCHED;
    case 'no_approver':
      return { refused: 'NO_APPROVER', reason: answer.reason };
  }
}

/**
 * Fields of requests that several persons may decide. A request to one person names the excluded person, too, who may
 * not decide as its deputy.
 */
function askedSeveral(ask: Ask) {
  const { set, requirement, userId } = ask;
  const { approvals_needed: needed, exclude_session_user, escalate } = requirement;
  if (!severalMayDecide(ask)) {
    return exclude_session_user ? { exclude_session_user, ...sessionUser(userId) } : {};
  }
  return {
    ...(set === undefined ? {} : { approver: set, needed }),
    ...(escalate === null ? {} : { escalate }),
    exclude_session_user,
    ...sessionUser(userId),
  };
}

/** Fields of requests that outlive their session. */
const overNight = (ask: Ask) =>
  outlivesSession(ask) ? { outlives_session: true, ...sessionUser(ask.userId) } : {};

const sessionUser = (userId: string | null) => (userId === null ? {} : { session_user_id: userId });

export async function consumeApproval(
  needs: Dependencies,
  ask: Ask,
  of: { readonly approvalId: string; readonly grantId: string },
): Promise<ApprovalOutcome> {
  const answer = await callWithRetry(needs, (approval) =>
    approval.consume({
      id: of.approvalId,
      tenant_id: ask.tenantId,
      agent_id: ask.agentId,
      digest: digestOf(ask),
      grant_id: of.grantId,
      context: ask.context,
    }),
  );
  switch (answer.outcome) {
    case 'consumed':
      return { consumed: { again: answer.again, use_before: answer.use_before } };
    case 'pending':
      return { waiting: waitingOf(answer, of.approvalId) };
    case 'denied':
      return { refused: 'APPROVAL_DENIED' };
    case 'expired':
      return { refused: 'APPROVAL_EXPIRED' };
    case 'mismatch':
      return { refused: 'APPROVAL_MISMATCH' };
    case 'consumed_by_other':
      return { refused: 'APPROVAL_CONSUMED' };
    case 'user_inactive':
      return { refused: 'NO_APPROVER' };
    case 'user_not_vouched':
      return NOT_VOUCHED;
    case 'no_approver':
      return { refused: 'NO_APPROVER', reason: answer.reason };
    case 'not_found':
      return { refused: 'NOT_FOUND' };
  }
}

/** Both commands are idempotent, so a lost response costs only one more call. */
async function callWithRetry<Answer>(
  { approval, clock }: Dependencies,
  ask: (approval: Peers['approval'], call: number) => Promise<Answer>,
): Promise<Answer> {
  let last: unknown;
  for (let call = 1; call <= CALLS_MAX; call += 1) {
    const answered = new AbortController();
    const late = clock.sleep(WAIT_MS, answered.signal).then(() => undefined);
    try {
      const answer = await Promise.race([ask(approval, call), late]);
      if (answer !== undefined) return answer;
    } catch (error) {
      last = error;
    } finally {
      answered.abort();
    }
  }
  throw new PeerUnavailable('approval does not answer', { cause: last });
}

/** A client that has to wait is told to wait at least a second. */
const waitingOf = (answer: Omit<Waiting, 'id'>, id: string): Waiting => ({
  id,
  expires_in: Math.max(1, answer.expires_in),
  binding_message: answer.binding_message,
});
