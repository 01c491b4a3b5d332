import { readApproverSet } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies, SetHolders } from '@cardea/service';
import Type from 'typebox';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { OPEN_SETS_MAX, PENDING_ROWS_MAX } from '../../limits.ts';
import { isImpersonated, isLive, requestShape, USERS_ONLY } from '../request-shape.ts';
import { type ListedRequest, readRows, selectRows, showRows } from '../rows.ts';

type ListPendingDependencies = Pick<
  ServiceDependencies,
  'database' | 'clock' | 'sealer' | 'streams' | 'revocations'
> & { readonly identityFacts: IdentityFacts; readonly setHolders: SetHolders };

export const listPending = (approval: ListPendingDependencies) =>
  endpoint(
    {
      tag: 'Approval requests',
      name: 'list_pending_approvals',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'Requests that wait for the caller, newest first',
      description:
        'Lists the requests that wait for a decision by the caller, newest first, at most 1,000; with those to sets in which the caller stands now, of the 50 sets that were asked last, and with those that were escalated to the caller or to such a set.',
      method: 'get',
      path: '/api/v1/ciba/pending',
      who: ['user'],
      notTaken: USERS_ONLY,
      ok: Type.Object({ requests: Type.Array(requestShape) }, { additionalProperties: false }),
      refusals: { unauthenticated: 401, user_session_required: 401 },
      consistency: { reads: ['requests'] },
    },
    async ({ principal: user, tenantId }) => {
      if (isImpersonated(user)) return { refused: 'user_session_required' };
      if (!(await isLive(approval, tenantId, user.id))) return { refused: 'unauthenticated' };
      const of = { tenantId, userId: user.id, now: approval.clock.now() };
      const rows = await waitingFor(approval, of);
      return { ok: { requests: await showRows(approval, rows) } };
    },
  );

type Caller = { readonly tenantId: string; readonly userId: string; readonly now: Date };

const OPEN = `r.tenant_id = $2 AND r.status = 'pending' AND r.expires_at > $1`;
const NEWEST = `ORDER BY r.created_at DESC, r.id DESC LIMIT ${PENDING_ROWS_MAX}`;
/** The clock decides this, because the sweeper's event may come later. */
const ESCALATED = 'r.escalates_to IS NOT NULL AND r.escalates_at <= $1';
/**
 * The requests to the caller in person, at first or by an escalation, newest first, and the sets that have open
 * requests. It is one statement, so that a tenant without sets needs no second one.
 */
const OWN_AND_SETS = `
  SELECT s.sets AS open_sets, own.*
  FROM (SELECT array_agg(t.asked) AS sets FROM (
          SELECT a.asked FROM (
            SELECT r.user_id AS asked, r.created_at FROM approval.requests r
            WHERE ${OPEN} AND r.approver IS NOT NULL
            UNION ALL
            SELECT r.escalates_to, r.created_at FROM approval.requests r
            WHERE ${OPEN} AND ${ESCALATED} AND r.second_approver IS NOT NULL) a
          GROUP BY a.asked ORDER BY max(a.created_at) DESC LIMIT ${OPEN_SETS_MAX}) t) s
  LEFT JOIN LATERAL (
    (${selectRows(`WHERE ${OPEN} AND r.user_id = $3 AND r.approver IS NULL ${NEWEST}`)})
    UNION ALL
    (${selectRows(`WHERE ${OPEN} AND ${ESCALATED} AND r.escalates_to = $3 AND r.user_id <> $3 ${NEWEST}`)})
  ) own ON true
  ORDER BY own.created_at DESC, own.id DESC`;
const OF_SETS = `
  WHERE ${OPEN} AND ((r.approver IS NOT NULL AND r.user_id = ANY($3))
    OR (${ESCALATED} AND r.second_approver IS NOT NULL AND r.escalates_to = ANY($3))) ${NEWEST}`;

type OwnOrNone = ListedRequest & { readonly open_sets: readonly string[] | null };

async function waitingFor(
  { database, setHolders }: ListPendingDependencies,
  { tenantId, userId, now }: Caller,
): Promise<readonly ListedRequest[]> {
  const sql = database.tenant(tenantId);
  const found = await sql.query<OwnOrNone>(OWN_AND_SETS, [now, tenantId, userId]);
  // If the caller has no requests of their own, the result is one row that names the sets.
  const own = found.rows.filter(({ id }) => id !== null);
  const sets = (found.rows[0]?.open_sets ?? []).flatMap((text) => {
    const set = readApproverSet(text);
    return set === undefined ? [] : [{ text, set }];
  });
  if (sets.length === 0) return own;
  const asked = { tenantId, userId, sets: sets.map(({ set }) => set) };
  const holds = await setHolders.heldBy(asked);
  const held = sets.filter((_, at) => holds[at] === true).map(({ text }) => text);
  if (held.length === 0) return own;
  const theirs = await readRows(sql, OF_SETS, [now, tenantId, held]);
  const listed = new Set(own.map(({ id }) => id));
  const more = theirs.filter(({ id }) => !listed.has(id));
  return [...own, ...more].toSorted(newestFirst).slice(0, PENDING_ROWS_MAX);
}

const newestFirst = (a: ListedRequest, b: ListedRequest): number =>
  b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : -1);
