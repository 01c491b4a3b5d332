/** Finds the applications to notify when all sessions of a user end at once. */
import type { Streams } from '@cardea/event-store';
import { computed, type Database, type RowOf } from '@cardea/read-models';
import { pagesOf, type ServiceDependencies } from '@cardea/service';
import { consentId, consents } from '../../consents/consents.module.ts';
import type { EndedSessions } from './logout-notice.ts';

/** How long to wait until the tables contain the sessions that started before the end. */
const CATCH_UP_MS = 10_000;
/** The most sessions listed per application; no user has more live sessions. */
const SESSIONS_MAX = 1_000;
const PAGE = 100;

export type EndedUser = {
  readonly tenantId: string;
  readonly userId: string;
  /** The position of the event that ended the sessions. */
  readonly position: bigint;
};

type Dependencies = Pick<ServiceDependencies, 'positions'> & {
  readonly database: Pick<Database, 'tenant'>;
  readonly streams: Pick<Streams, 'load'>;
};

const CLIENT = computed('client_id', 'a.id', 'text')
  .and(
    computed(
      'session_ids',
      `(array_agg(ended.id ORDER BY ended.last_active_at DESC))[1:${SESSIONS_MAX}]`,
      'text[]',
    ),
  )
  .and(
    computed(
      'by_session',
      `a.backchannel_logout_session_required OR EXISTS (
        SELECT FROM identity.sessions kept
        WHERE kept.tenant_id = $1 AND kept.id = $5
          AND (kept.client_id = a.id OR a.id = ANY (kept.served_clients)))`,
      'boolean',
    ),
  );

/**
 * Queues one notice per session if the application needs the session's id, or if a session that is kept also serves the
 * application. A notice about the whole user would end that kept session as well.
 */
const ENDED = {
  name: 'identity_ended_clients',
  text: `WITH ended AS MATERIALIZED (
      SELECT s.id, s.last_active_at, client.id AS client_id
      FROM identity.sessions s
      CROSS JOIN LATERAL unnest(array_append(s.served_clients, s.client_id)) AS client (id)
      WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.revoked_at IS NULL AND s.expires_at > $3
        AND s.user_epoch < $4 AND s.id IS DISTINCT FROM $5
    )
    SELECT ${CLIENT.columns} FROM ended JOIN identity.applications a ON a.tenant_id = $1 AND a.id = ended.client_id
    WHERE a.backchannel_logout_uri IS NOT NULL AND a.deleted_at IS NULL
    GROUP BY a.id`,
};

/** The ended session in a notice that names one session. */
export const endedSession = (
  subject: EndedSessions['subject'] & { readonly session_id: string },
): EndedSessions => ({ subject, sessionIds: [subject.session_id] });

/** Sessions of earlier epochs than `epoch`, except the one that is kept. */
export async function* subjectsOfEpoch(
  needs: Dependencies,
  of: EndedUser & { readonly epoch: number; readonly keep: string | null; readonly at: string },
): AsyncGenerator<readonly EndedSessions[], void, undefined> {
  const { tenantId, userId: user_id } = of;
  const pages = pagesOf(needs, {
    projections: ['sessions', 'workspaces'],
    position: of.position,
    waitMs: CATCH_UP_MS,
    pageRows: Number.POSITIVE_INFINITY,
    page: async () => {
      const values = [tenantId, user_id, of.at, of.epoch, of.keep];
      const sql = needs.database.tenant(tenantId);
      return (await sql.query<RowOf<typeof CLIENT>>(ENDED, values)).rows;
    },
    keyOf: ({ client_id }) => client_id,
    firstKey: '',
  });
  for await (const rows of pages) {
    for (const { client_id, session_ids, by_session } of rows) {
      yield by_session
        ? session_ids.map((id) => endedSession({ client_id, user_id, session_id: id }))
        : [{ subject: { client_id, user_id, session_id: null }, sessionIds: session_ids }];
    }
  }
}

/** The tables no longer have rows of a deleted user, so the consent of each application is loaded from its stream. */
export async function* subjectsOfDeleted(
  needs: Dependencies,
  { tenantId, userId, position }: EndedUser,
): AsyncGenerator<readonly EndedSessions[], void, undefined> {
  const pages = pagesOf(needs, {
    projections: ['workspaces'],
    position,
    waitMs: CATCH_UP_MS,
    pageRows: PAGE,
    page: (after) => clientsWithAddress(needs.database, tenantId, after),
    keyOf: (id) => id,
    firstKey: '',
  });
  for await (const clientIds of pages) {
    const given = await Promise.all(
      clientIds.map((clientId) => {
        const id = consentId({ tenantId, userId, clientId });
        return needs.streams.load(consents, { tenantId, id });
      }),
    );
    yield clientIds
      .filter((_id, index) => given[index]?.state.status === 'active')
      .map((client_id) => ({
        subject: { client_id, user_id: userId, session_id: null },
        sessionIds: [],
      }));
  }
}

/** One page of ids above `after`, in order. */
async function clientsWithAddress(
  database: Dependencies['database'],
  tenantId: string,
  after: string,
): Promise<readonly string[]> {
  const { rows } = await database.tenant(tenantId).query<{ id: string }>(
    `SELECT id FROM identity.applications
       WHERE tenant_id = $1 AND backchannel_logout_uri IS NOT NULL AND deleted_at IS NULL
         AND id > $2
       ORDER BY id LIMIT $3`,
    [tenantId, after, PAGE],
  );
  return rows.map(({ id }) => id);
}
