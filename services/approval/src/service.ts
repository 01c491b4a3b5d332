/** The approval service: agents ask, people decide, each request once. */
import { metrics, sharedTokenBucket } from '@cardea/runtime';
import {
  factCopies,
  type Service,
  type ServiceDefinition,
  type ServiceNeeds,
} from '@cardea/service';
import { type MailTransport, mailTransport } from './adapters/mail.ts';
import type { Approval } from './approval.ts';
import { notifier } from './notifications/notifier.ts';
import { approveRequest } from './requests/approval-requests/approve/approve.route.ts';
import { changes } from './requests/approval-requests/changes.ts';
import { createRequest } from './requests/approval-requests/create/create.route.ts';
import { denyRequest } from './requests/approval-requests/deny/deny.route.ts';
import { sweeper } from './requests/approval-requests/expire/sweeper.ts';
import { getRequest } from './requests/approval-requests/get/get.route.ts';
import { listRequests } from './requests/approval-requests/list/list.route.ts';
import { listPending } from './requests/approval-requests/list-pending/list-pending.route.ts';
import { pollRequest } from './requests/approval-requests/poll/poll.route.ts';
import { pollToken } from './requests/approval-requests/poll-token/poll-token.route.ts';
import { polls } from './requests/approval-requests/polls.ts';
import { requestsTable } from './requests/approval-requests/requests.projection.ts';
import { counters } from './requests/counters.ts';
import { PACE } from './requests/limits.ts';
import { muteOnDenials } from './requests/queues/mute-on-denials.policy.ts';
import { mapApprovalEvent } from './requests/relay.ts';
import { identityConsumer } from './requests/user-directory/identity.consumer.ts';
import { people } from './requests/user-directory/user-directory.ts';
import { forVault } from './vault-requests/approval-rpc.ts';

/** What tests leave out or shorten. */
export type Options = {
  readonly withoutSweeper?: true;
  readonly pollWaitMs?: number;
  readonly mail?: MailTransport;
};

export const approvalWith = (options: Options = {}): ServiceDefinition => ({
  name: 'approval',
  migrations: new URL('../migrations/', import.meta.url),
  build: (needs) => build(needs, options),
});

export const approvalService = approvalWith();

function build(needs: ServiceNeeds, options: Options): Service {
  const { withoutSweeper, pollWaitMs } = options;
  const { cache, clock, database, log } = needs;
  const heard = changes(cache, log);
  const approval: Approval = {
    ...needs,
    people: people(database),
    factCopies: factCopies(needs, 'approval'),
    counters: counters(cache, clock),
    pace: sharedTokenBucket(cache, clock, PACE),
    changes: heard,
  };
  const waiting = polls({ changes: heard, clock, cache });
  const mail = options.mail ?? mailTransport(needs);
  const notifying = notifier({ ...approval, mail });
  const polling = { ...approval, polls: waiting };
  return {
    endpoints: [
      createRequest(approval),
      listRequests(approval),
      getRequest(approval),
      pollRequest({ ...polling, ...(pollWaitMs === undefined ? {} : { pollWaitMs }) }),
      approveRequest(approval),
      denyRequest(approval),
      listPending(approval),
      pollToken(polling),
    ],
    projections: [requestsTable(notifying.wake)],
    relay: mapApprovalEvent,
    consumers: [identityConsumer({ ...approval, store: needs.store })],
    policies: [muteOnDenials(approval)],
    loops: [waiting.loop, notifying.loop, ...(withoutSweeper === true ? [] : [sweeper(approval)])],
    stop: async () => {
      mail?.close();
      await waiting.stop();
    },
    degraded: () =>
      mail === undefined ? { 'approval.smtp': 'SMTP_URL is not set: nobody is told by mail' } : {},
    measure: async () => {
      const { rows } = await database.system.query<{ pending: number }>(
        `SELECT count(*)::int AS pending FROM approval.requests WHERE status = 'pending'`,
      );
      metrics.approvalsPending.set(rows[0]?.pending ?? 0);
    },
    offers: { approval: forVault(approval) },
  };
}
