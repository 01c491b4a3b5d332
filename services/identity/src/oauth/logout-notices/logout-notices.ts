/** Wires the policy, the table and the sender of logout notices (OpenID Connect Back-Channel Logout 1.0). */
import { type Outbound, type OutboundDependencies, outbound } from '@cardea/http';
import { wakeSignal } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { ANY_ADDRESS, isOfOrigins } from '../../workspaces/workspaces.module.ts';
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
  const { ENV: env, IDENTITY_PRIVATE_ORIGINS: privateOrigins } = given.settings;
  const reaching = (allowedCidrs: readonly string[]) =>
    outbound({
      env,
      allowedCidrs,
      wholeWaitMs: NOTICE_WAIT_MS,
      bodyMaxBytes: NOTICE_ANSWER_BYTES_MAX,
      ...given.noticeNetwork,
    });
  const [open, inside] = [reaching([]), reaching(ANY_ADDRESS)];
  const client: Pick<Outbound, 'send'> = {
    send: (request) => (isOfOrigins(request.url, privateOrigins) ? inside : open).send(request),
  };
  const newNotices = wakeSignal(given.clock);
  return {
    projections: [logoutNoticesProjection(newNotices.wake)],
    policies: [queueLogoutNotices(given)],
    loops: [noticeSender({ ...given, outbound: client }, newNotices)],
    stop: async () => {
      await Promise.all([open.close(), inside.close()]);
    },
  };
}
