import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { PENDING_ROWS_MAX } from '../../limits.ts';
import { COMMON, isImpersonated, isLive, requestShape, USERS_ONLY } from '../request-shape.ts';
import { readRows, showRows } from '../rows.ts';

type ListPendingDependencies = Pick<
  ServiceDependencies,
  'database' | 'clock' | 'sealer' | 'streams' | 'revocations'
> & { readonly identityFacts: IdentityFacts };

export const listPending = (approval: ListPendingDependencies) =>
  endpoint(
    {
      ...COMMON,
      name: 'list_pending_approvals',
      class: 'things',
      applicationScope: 'account',
      summary: 'Requests that wait for the caller, newest first',
      description:
        'Lists the requests that wait for a decision by the caller, newest first, at most 1,000.',
      method: 'get',
      path: '/api/v1/ciba/pending',
      who: ['user'],
      notTaken: USERS_ONLY,
      ok: Type.Object({ requests: Type.Array(requestShape) }, { additionalProperties: false }),
      refusals: { unauthenticated: 401, user_session_required: 401 },
      reads: ['requests'],
    },
    async ({ principal: user, tenantId }) => {
      if (isImpersonated(user)) return { refused: 'user_session_required' };
      if (!(await isLive(approval, tenantId, user.id))) return { refused: 'unauthenticated' };
      const values = [approval.clock.now(), tenantId, user.id];
      const rows = await readRows(
        approval.database.tenant(tenantId),
        `WHERE r.tenant_id = $2 AND r.user_id = $3 AND r.status = 'pending' AND r.expires_at > $1
         ORDER BY r.created_at DESC, r.id DESC LIMIT ${PENDING_ROWS_MAX}`,
        values,
      );
      return { ok: { requests: await showRows(approval, rows) } };
    },
  );
