/** Notifies users by mail of requests for their approval. */
import { type MailTransport, mailTransports } from '@cardea/mail';
import { wakeSignal } from '@cardea/runtime';
import type { Module, ServiceDependencies } from '@cardea/service';
import type { RequestParts } from '../requests/requests.module.ts';
import { notifier } from './notifier.ts';

export type NotificationsDependencies = Pick<
  ServiceDependencies,
  'streams' | 'database' | 'sealer' | 'clock' | 'ids' | 'log' | 'systemCommand' | 'settings'
> &
  Pick<RequestParts, 'identityFacts' | 'counters' | 'changes' | 'setHolders'> & {
    /** Used instead of the transport that the settings name. */
    readonly transport?: MailTransport | undefined;
  };

export function notificationsModule(needs: NotificationsDependencies): {
  readonly module: Module;
  /** Called when there may be new notifications to send. */
  readonly wake: () => void;
} {
  const mail = needs.transport ?? mailTransports(needs).transport;
  const newJobs = wakeSignal(needs.clock);
  const module: Module = {
    loops: [notifier({ ...needs, mail }, newJobs)],
    stop: async () => mail?.close(),
    degraded: () =>
      mail === undefined ? { 'approval.smtp': 'SMTP_URL is not set: nobody is told by mail' } : {},
  };
  return { module, wake: newJobs.wake };
}
