/**
 * A session of an application without `offline_access` belongs to the browser sign-in from which it came, and ends when
 * that sign-in is ended. When the sign-in merely expires, the session continues.
 */
import { accept } from '@cardea/event-store';
import type { Database } from '@cardea/read-models';
import { uuidFrom } from '@cardea/runtime';
import { pagesOf, policy, type ServiceDependencies } from '@cardea/service';
import { endSession, type SessionEvent, sessions } from '../session.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'database' | 'positions' | 'streams' | 'systemCommand'
>;

const PAGE = 500;
/** How long to wait until the table contains the sessions that started before the end. */
const CATCH_UP_MS = 10_000;

export const endBrowserSessions = (needs: Dependencies) =>
  policy<SessionEvent>()({
    name: 'end_browser_sessions',
    on: {
      SessionRevoked: async ({ id: cause, position, data, metadata: { tenantId } }) => {
        if (data.kind !== 'browser') return;
        await endSessionsOf(needs, { tenantId, browserSid: data.id }, { cause, position });
        if (data.reason === 'logout' && data.earlier_sid !== undefined) {
          await endEarlier(needs, { tenantId, userId: data.user_id, sid: data.earlier_sid });
        }
      },
    },
  });

/** Signing out applies to the browser. The end of the previous sign-in then ends the one before it. */
async function endEarlier(
  { streams, systemCommand }: Dependencies,
  { tenantId, userId, sid }: { readonly [part in 'sid' | 'tenantId' | 'userId']: string },
): Promise<void> {
  const command = systemCommand(tenantId, 'end earlier sign-in', sid);
  await streams.decideOn(sessions, sid, command, (session) =>
    session.status === 'known' && session.user_id === userId
      ? endSession({ now: command.now, reason: 'logout' }, session)
      : accept(),
  );
}

/** Ends sessions that started by that position. Repeating it with the same cause changes nothing. */
async function endSessionsOf(
  needs: Dependencies,
  of: { readonly tenantId: string; readonly browserSid: string },
  { cause, position }: { readonly cause: string; readonly position: bigint },
): Promise<void> {
  const pages = pagesOf(needs, {
    projections: ['sessions'],
    position,
    waitMs: CATCH_UP_MS,
    pageRows: PAGE,
    page: (after) => openSessionsOf(needs.database, of, after),
    keyOf: (id) => id,
    firstKey: '',
  });
  for await (const ids of pages) {
    await needs.streams.decideOnMany(
      sessions,
      ids.map((id) => {
        const command = needs.systemCommand(of.tenantId, 'end with browser', uuidFrom(cause, id));
        const end = { now: command.now, reason: 'browser' as const };
        return { id, command, decide: (session) => endSession(end, session) };
      }),
    );
  }
}

/** One page of ids above `after`, in order. */
async function openSessionsOf(
  database: Pick<Database, 'tenant'>,
  of: { readonly tenantId: string; readonly browserSid: string },
  after: string,
): Promise<readonly string[]> {
  const { rows } = await database.tenant(of.tenantId).query<{ id: string }>(
    `SELECT id FROM identity.sessions
       WHERE tenant_id = $1 AND browser_sid = $2 AND revoked_at IS NULL AND id > $3
       ORDER BY id LIMIT $4`,
    [of.tenantId, of.browserSid, after, PAGE],
  );
  return rows.map(({ id }) => id);
}
