/** Reads all relevant entries of the revocation lists from the tables, to refill an empty shared cache. */
import { CHANGES_FLOOR, CHANGES_FLOOR_TTL_MS, type Revocation } from '@cardea/auth';
import { NotCaughtUp } from '@cardea/log-follower';
import type { ServiceDependencies } from '@cardea/service';

type Dependencies = Pick<
  ServiceDependencies,
  'cache' | 'clock' | 'database' | 'positions' | 'settings' | 'store'
>;

/** An entry must outlive the longest access token by this much. */
const MARGIN_MS = 3600_000;
const CATCH_UP_MS = 10_000;

export async function revocationList(needs: Dependencies): Promise<readonly Revocation[]> {
  const { cache, database, settings, clock, store, positions } = needs;
  const head = await store.head('identity');
  if (!(await positions.reached(['revocations', 'users', 'sessions'], head, CATCH_UP_MS))) {
    throw new NotCaughtUp('the tables lag behind the log, so revocations would be missing');
  }
  await cache.set(CHANGES_FLOOR, String(head), CHANGES_FLOOR_TTL_MS);
  const since = new Date(clock.now().getTime() - settings.JWT_EXPIRY * 1000 - MARGIN_MS);
  const { rows } = await database.system.query<
    Omit<Revocation, 'at'> & { readonly tokens_before: string | null }
  >(
    `SELECT kind, id, tokens_before FROM identity.revocations WHERE marked_at > $1
       UNION ALL
       SELECT 'sid', s.id, NULL FROM identity.sessions s JOIN identity.users u ON u.id = s.user_id
       WHERE s.expires_at > $2 AND s.revoked_at IS NULL AND u.updated_at > $1
         AND s.user_epoch <> u.epoch AND s.id IS DISTINCT FROM u.keep_sid`,
    [since, clock.now()],
  );
  return rows.map(({ tokens_before: at, ...mark }) =>
    at === null ? mark : { ...mark, at: Number(at) },
  );
}
