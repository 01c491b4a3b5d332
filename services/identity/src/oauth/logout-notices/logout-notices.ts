/** Notices of ended sessions (OpenID Connect Back-Channel Logout 1.0): what queues, keeps and sends them. */
import { type OutboundDependencies, outbound } from '@cardea/http';
import { wakeSignal } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { logoutNoticesProjection } from './logout-notices.projection.ts';
import {
  NOTICE_ANSWER_BYTES_MAX,
  NOTICE_WAIT_MS,
  type NoticeSenderDependencies,
  noticeSender,
} from './notice-sender.ts';
import { queueLogoutNotices } from './queue-logout-notices.policy.ts';

type Dependencies = Pick<ServiceDependencies, 'settings'> &
  Omit<NoticeSenderDependencies, 'outbound'> &
  Parameters<typeof queueLogoutNotices>[0] & {
    readonly noticeNetwork?: Pick<OutboundDependencies, 'dialer' | 'resolver'>;
  };

export function logoutNoticesModule(given: Dependencies) {
  const client = outbound({
    env: given.settings.ENV,
    allowedCidrs: [],
    wholeWaitMs: NOTICE_WAIT_MS,
    bodyMaxBytes: NOTICE_ANSWER_BYTES_MAX,
    ...given.noticeNetwork,
  });
  const newNotices = wakeSignal(given.clock);
  return {
    projections: [logoutNoticesProjection(newNotices.wake)],
    policies: [queueLogoutNotices(given)],
    loops: [noticeSender({ ...given, outbound: client }, newNotices)],
    stop: () => client.close(),
  };
}
