/**
 * Requests for approval. Agents and users make them, the user to whom a request is sent decides it once, and polls wait
 * for the decision.
 */

import { metrics, sharedTokenBucket } from '@cardea/runtime';
import {
  factCopies,
  forgottenTenants,
  type Module,
  type ServiceDependencies,
  type SetHolders,
  setHolders,
} from '@cardea/service';
import { approveRequest } from './approval-requests/approve/approve.route.ts';
import { askForAccess } from './approval-requests/ask-access/ask-access.route.ts';
import { type Changes, changes } from './approval-requests/changes.ts';
import { codeGuesses } from './approval-requests/code-guesses.ts';
import { consumeActionRequest } from './approval-requests/consume-action/consume-action.route.ts';
import { createRequest } from './approval-requests/create/create.route.ts';
import { denyRequest } from './approval-requests/deny/deny.route.ts';
import { sweeper } from './approval-requests/expire/sweeper.ts';
import { getRequest } from './approval-requests/get/get.route.ts';
import { listRequests } from './approval-requests/list/list.route.ts';
import { listOwnDecisions } from './approval-requests/list-own/list-own.route.ts';
import { listPending } from './approval-requests/list-pending/list-pending.route.ts';
import { pollRequest } from './approval-requests/poll/poll.route.ts';
import { pollToken } from './approval-requests/poll-token/poll-token.route.ts';
import { polls } from './approval-requests/polls.ts';
import { requests } from './approval-requests/request.ts';
import { requestsTable } from './approval-requests/requests.projection.ts';
import { oldSetTexts } from './approver-sets/set-texts.ts';
import { type Counters, counters } from './counters.ts';
import { identityConsumer } from './identity-facts/identity.consumer.ts';
import { type IdentityFacts, identityFacts } from './identity-facts/identity-facts.ts';
import { PACE } from './limits.ts';
import { muteOnDenials } from './queues/mute-on-denials.policy.ts';
import { queues } from './queues/queue.ts';
import { approvalRelay } from './relay.ts';

export { isFirstRequest } from './approval-requests/agent-history.ts';
export type { Changes } from './approval-requests/changes.ts';
export { makeRequest, sealWord } from './approval-requests/make-request.ts';
export { readRequest, showRequest } from './approval-requests/read-request.ts';
export * from './approval-requests/request.ts';
export {
  isImpersonated,
  isLive,
  NO_KEYS,
  requestId,
  SeverityShape,
  type Shown as ShownRequest,
  USERS_ONLY,
} from './approval-requests/request-shape.ts';
export * from './approval-requests/who-decides.ts';
export { stillHolding } from './approver-sets/still-holding.ts';
export type { Counters } from './counters.ts';
export { deputyInForce } from './identity-facts/deputy-in-force.ts';
export {
  type DeputyPeriod,
  type IdentityFacts,
  type MailLook,
  patiently,
} from './identity-facts/identity-facts.ts';
export { userValidity } from './identity-facts/user-validity.ts';
export { COOL_DOWN_MS, SET_MAILS_MAX, WAITING_PER_CHANNEL_MAX } from './limits.ts';
export { pageOfDeputy, pageOfRequests } from './page-address.ts';
export { askQueue } from './queues/ask-queue.ts';
export { REQUEST_LABELS, releasedFact } from './request-labels.ts';

export type RequestsDependencies = Pick<
  ServiceDependencies,
  | 'streams'
  | 'database'
  | 'positions'
  | 'sealer'
  | 'clock'
  | 'ids'
  | 'log'
  | 'cache'
  | 'bus'
  | 'peers'
  | 'revocations'
  | 'command'
  | 'systemCommand'
  | 'store'
> & {
  /** Called when new requests are in the table. */
  readonly onRequested: () => void;
  /** Called when identity has deleted a user. */
  readonly onUserDeleted: (tenantId: string, userId: string) => Promise<void>;
  /** False in tests that expire requests themselves. */
  readonly expiresRequests: boolean;
  readonly pollWaitMs?: number;
};

/** The parts of this module that its sibling modules need, besides its functions. */
export type RequestParts = {
  readonly identityFacts: IdentityFacts;
  readonly factCopies: Pick<ReturnType<typeof factCopies>, 'user'>;
  readonly counters: Counters;
  readonly changes: Changes;
  readonly setHolders: SetHolders;
};

/** The endpoints that the pages show and call. */
export type RequestEndpoints = {
  readonly approve: ReturnType<typeof approveRequest>;
  readonly decisions: ReturnType<typeof listOwnDecisions>;
  readonly deny: ReturnType<typeof denyRequest>;
  readonly get: ReturnType<typeof getRequest>;
  readonly pending: ReturnType<typeof listPending>;
  readonly poll: ReturnType<typeof pollRequest>;
};

export function requestsModule(needs: RequestsDependencies): {
  readonly module: Module;
  readonly parts: RequestParts;
  readonly endpoints: RequestEndpoints;
} {
  const { cache, clock, database, log, onRequested, expiresRequests } = needs;
  const parts: RequestParts = {
    identityFacts: identityFacts(database),
    factCopies: factCopies(needs, 'approval'),
    counters: counters(cache, clock),
    changes: changes(cache, log),
    setHolders: setHolders(needs),
  };
  const waiting = polls({ changes: parts.changes, clock, cache });
  const shared = { ...needs, ...parts };
  const polling = {
    ...shared,
    polls: waiting,
    pace: sharedTokenBucket(cache, clock, PACE),
  };
  const endpoints: RequestEndpoints = {
    get: getRequest(shared),
    poll: pollRequest(polling),
    approve: approveRequest(shared),
    deny: denyRequest(shared),
    pending: listPending(shared),
    decisions: listOwnDecisions(shared),
  };
  const module: Module = {
    endpoints: [
      createRequest(shared),
      askForAccess(shared),
      listRequests(shared),
      ...Object.values(endpoints),
      pollToken(polling),
      consumeActionRequest(shared),
    ],
    projections: [requestsTable(onRequested)],
    relay: approvalRelay,
    consumers: [identityConsumer(shared)],
    policies: [muteOnDenials(shared)],
    loops: [waiting.loop, oldSetTexts(shared), ...(expiresRequests ? [sweeper(shared)] : [])],
    stop: () => waiting.stop(),
    measure: async () => {
      const { rows } = await database.system.query<{ pending: number }>(
        `SELECT count(*)::int AS pending FROM approval.requests WHERE status = 'pending'`,
      );
      metrics.approvalsPending.set(rows[0]?.pending ?? 0);
    },
  };
  return { module, parts, endpoints };
}

export const requestsStreams = [requests, queues, codeGuesses, forgottenTenants];
