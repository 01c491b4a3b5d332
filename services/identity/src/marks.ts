/** Every mark that still counts, from the tables: what the shared cache is filled with when it is empty. */
import type { Mark } from '@cardea/auth';
import type { ServiceNeeds } from '@cardea/service';

/** A mark must outlive the longest access token by this much. */
const MARGIN_MS = 3600_000;
const CATCH_UP_MS = 10_000;

export async function standingMarks(needs: ServiceNeeds): Promise<readonly Mark[]> {
  const { database, settings, clock, store, positions } = needs;
  const head = await store.head('identity');
  if (!(await positions.reached(['revocations', 'users', 'sessions'], head, CATCH_UP_MS))) {
    throw new Error('the tables are behind the log, so the marks would not be whole');
  }
  const since = new Date(clock.now().getTime() - settings.JWT_EXPIRY * 1000 - MARGIN_MS);
  const { rows } = await database.asSystem((sql) =>
    sql.query<Mark>(
      `SELECT kind, id FROM identity.revocations WHERE marked_at > $1
       UNION ALL
       SELECT 'sid', s.id FROM identity.sessions s JOIN identity.users u ON u.id = s.user_id
       WHERE s.expires_at > $2 AND s.revoked_at IS NULL AND u.updated_at > $1
         AND s.user_epoch <> u.epoch AND s.id IS DISTINCT FROM u.keep_sid`,
      [since, clock.now()],
    ),
  );
  return rows;
}
