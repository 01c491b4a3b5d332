/**
 * Queues a notice for each application whose session of a user ended, for whatever reason. An application that ended
 * its own session is not notified of it.
 */
import type { Recorded } from '@cardea/event-store';
import { failpoint, uuidFrom } from '@cardea/runtime';
import { policy, type ServiceDependencies } from '@cardea/service';
import type { UserEvent } from '../../accounts/accounts.module.ts';
import type { SessionEvent } from '../../sessions/sessions.module.ts';
import type { OAuthClients } from '../server/clients.ts';
import {
  type EndedUser,
  endedSession,
  subjectsOfDeleted,
  subjectsOfEpoch,
} from './ended-for-user.ts';
import {
  type EndedSessions,
  logoutNotices,
  noticeIdParts,
  queueLogoutNotice,
} from './logout-notice.ts';
import { NOTICE_AGE_MAX_MS } from './notice-sender.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'database' | 'positions' | 'streams' | 'systemCommand'
> & {
  readonly clients: Pick<OAuthClients, 'find'>;
};

export const queueLogoutNotices = (needs: Dependencies) => {
  const epochEnded = (
    event: Recorded<
      UserEvent,
      'AccountReclaimed' | 'EmailChanged' | 'PasswordSet' | 'SessionsRevoked' | 'UserDisabled'
    >,
  ) => notifyOfEpoch(needs, event);
  return policy<SessionEvent | UserEvent>()({
    name: 'queue_logout_notices',
    on: {
      SessionRevoked: (event) => notifyOfSession(needs, event),
      PasswordSet: epochEnded,
      EmailChanged: epochEnded,
      SessionsRevoked: epochEnded,
      UserDisabled: epochEnded,
      AccountReclaimed: epochEnded,
      UserDeleted: async (event) => {
        if (isOld(needs, event.data.deleted_at)) return;
        for await (const page of subjectsOfDeleted(needs, endedUser(event))) {
          await queue(needs, event, page);
        }
      },
    },
  });
};

/** Tokens of an application without its own session have the browser sign-in's id as `sid`. */
async function notifyOfSession(
  needs: Dependencies,
  event: Recorded<SessionEvent, 'SessionRevoked'>,
): Promise<void> {
  const { id: session_id, user_id, client_id, reason, revoked_at } = event.data;
  if (reason === 'oauth_revoke' || isOld(needs, revoked_at ?? '')) return;
  const clients = [
    ...(client_id === null ? [] : [client_id]),
    ...(event.data.served_clients ?? []),
  ];
  const has = await Promise.all(clients.map((id) => hasAddress(needs, id)));
  const notified = clients.filter((_id, index) => has[index]);
  await queue(
    needs,
    event,
    notified.map((id) => endedSession({ client_id: id, user_id, session_id })),
  );
}

async function notifyOfEpoch(
  needs: Dependencies,
  event: Recorded<
    UserEvent,
    'AccountReclaimed' | 'EmailChanged' | 'PasswordSet' | 'SessionsRevoked' | 'UserDisabled'
  >,
): Promise<void> {
  const { data } = event;
  // The first epoch has no earlier sessions.
  if (data.epoch === 0 || isOld(needs, data.at)) return;
  const keep = 'keep_sid' in data ? data.keep_sid : null;
  const of = { ...endedUser(event), keep, epoch: data.epoch, at: data.at };
  for await (const subjects of subjectsOfEpoch(needs, of)) await queue(needs, event, subjects);
}

const endedUser = ({
  data,
  metadata,
  position,
}: Pick<Recorded<UserEvent>, 'metadata' | 'position'> & {
  readonly data: { readonly id: string };
}): EndedUser => ({ tenantId: metadata.tenantId, userId: data.id, position });

/** A new policy starts at the first event of the log, so notices for old events are skipped. */
const isOld = ({ clock }: Dependencies, at: string): boolean =>
  clock.now().getTime() - new Date(at).getTime() > NOTICE_AGE_MAX_MS;

/** Queueing is idempotent: several events about the same end lead to one notice. */
async function queue(
  { streams, systemCommand }: Dependencies,
  { metadata: { tenantId } }: Pick<Recorded<SessionEvent>, 'metadata'>,
  ended: readonly EndedSessions[],
): Promise<void> {
  if (ended.length === 0) return;
  await failpoint('logout.after_revoke');
  await streams.decideOnMany(
    logoutNotices,
    ended.map((each) => {
      const id = uuidFrom('logout notice', ...noticeIdParts(each));
      const command = systemCommand(tenantId, 'queue logout notice', id);
      const { now } = command;
      return { id, command, decide: (notice) => queueLogoutNotice(each.subject, now, notice) };
    }),
  );
}

async function hasAddress({ clients }: Dependencies, clientId: string): Promise<boolean> {
  const client = await clients.find(clientId);
  return (client?.application.backchannel_logout_uri ?? null) !== null;
}
