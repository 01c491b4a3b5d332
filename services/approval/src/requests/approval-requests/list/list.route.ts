import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { Status } from '../request.ts';
import { isImpersonated, NO_KEYS, requestShape, StatusShape } from '../request-shape.ts';
import { pageOfRequests, showRows } from '../rows.ts';

type ListDependencies = Pick<ServiceDependencies, 'database' | 'clock' | 'sealer' | 'streams'>;

const ok = Type.Object(
  { requests: Type.Array(requestShape), total: pageAnswer.total, offset: pageAnswer.offset },
  { additionalProperties: false },
);

export const listRequests = (approval: ListDependencies) =>
  endpoint(
    {
      tag: 'Approval requests',
      name: 'list_approval_requests',
      machine: 'approvals:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'All approval requests of the tenant, newest first',
      description:
        'Lists the approval requests of all users of the tenant, newest first, 50 unless `limit` says otherwise. An administrator who impersonates a user may not.',
      method: 'get',
      path: '/api/v1/ciba/requests',
      who: ['admin'],
      notTaken: NO_KEYS,
      query: Type.Object({ ...pageQuery, status: Type.Optional(StatusShape) }),
      ok,
      refusals: { forbidden: 403 },
      consistency: { reads: ['requests'] },
    },
    async ({ principal, tenantId, query }) => {
      if (isImpersonated(principal)) return { refused: 'forbidden' };
      const { status, offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const { rows, total } = await pageOfRequests(approval.database, tenantId, {
        where: `r.tenant_id = $2 AND ${whereStatus(status)}`,
        values: [approval.clock.now(), tenantId],
        offset,
        limit,
      });
      return { ok: { requests: await showRows(approval, rows), total, offset } };
    },
  );

/** Each status has its own condition, so that each can use its index. Each condition also contains `$1`, the time. */
function whereStatus(status: Status | undefined): string {
  switch (status) {
    case undefined:
      return '$1::timestamptz IS NOT NULL';
    case 'pending':
      return `r.status = 'pending' AND r.expires_at > $1::timestamptz`;
    case 'expired':
      return `(r.status = 'expired' OR (r.status = 'pending' AND r.expires_at <= $1::timestamptz))`;
    case 'approved':
    case 'denied':
      return `r.status = '${status}' AND $1::timestamptz IS NOT NULL`;
  }
}
