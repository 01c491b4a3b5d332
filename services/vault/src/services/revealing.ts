/** Who may reveal values or allow revealing: an administrator in person who signed in recently. */
import type { Principal } from '@cardea/auth';
import { stepUpHeaders } from '@cardea/http';
import type { Database } from '@cardea/read-models';

const AUTH_AGE_SECONDS_MAX = 300;

/**
 * The objection to callers who may not reveal: an API key, an agent, an administrator who impersonates a user, and a
 * user whose sign-in is too old.
 */
export function objectionToReveal(principal: Principal, now: Date) {
  if (principal.kind !== 'user' || principal.impersonatedBy !== null) {
    return { refused: 'forbidden' } as const;
  }
  const { authTime } = principal;
  const isRecent = authTime !== null && now.getTime() / 1000 - authTime <= AUTH_AGE_SECONDS_MAX;
  return isRecent
    ? undefined
    : ({ refused: 'step_up_required', headers: stepUpHeaders(AUTH_AGE_SECONDS_MAX) } as const);
}

/** The services of all tenants whose `reveal` is set, for the operator. */
export async function revealableServices({
  database,
}: {
  readonly database: Database;
}): Promise<readonly { readonly tenant_id: string; readonly name: string }[]> {
  const { rows } = await database.system.query<{ tenant_id: string; name: string }>(
    `SELECT tenant_id, name FROM vault.services WHERE (shown->>'reveal')::boolean
     ORDER BY tenant_id, name`,
  );
  return rows;
}
