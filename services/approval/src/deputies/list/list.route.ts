import { named, PAGE_SIZE_DEFAULT, pageAnswer, pageQuery, Time } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import { pageOfTenant } from '@cardea/read-models';
import Type from 'typebox';
import { isImpersonated, NO_KEYS } from '../../requests/requests.module.ts';
import { DEPUTIES_TABLE, deputyRows } from '../deputies.projection.ts';
import type { DeputyDependencies } from '../deputy-shape.ts';

const ok = Type.Object(
  {
    deputies: Type.Array(
      named(
        'ApprovalDeputyship',
        Type.Object(
          { user_id: Type.String(), deputy: Type.String(), from: Time, until: Time },
          { additionalProperties: false },
        ),
      ),
    ),
    total: pageAnswer.total,
    offset: pageAnswer.offset,
  },
  { additionalProperties: false },
);

const LISTED = deputyRows.select('user_id', 'deputy', 'from_at', 'until_at');

export const listDeputiesRoute = ({ database, clock }: DeputyDependencies) =>
  endpoint(
    {
      tag: 'Approval deputies',
      name: 'list_approval_deputies',
      machine: 'approvals:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'Who decides in the place of whom',
      description:
        'Lists the deputies of the tenant whose time is not over, by the id of the person in whose place they decide; 50 unless `limit` says otherwise.',
      method: 'get',
      path: '/api/v1/ciba/deputies',
      who: ['admin'],
      notTaken: NO_KEYS,
      query: Type.Object(pageQuery),
      ok,
      refusals: { forbidden: 403 },
      consistency: { reads: [DEPUTIES_TABLE] },
    },
    async ({ principal, tenantId, query }) => {
      if (isImpersonated(principal)) return { refused: 'forbidden' };
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const { rows, total } = await pageOfTenant(database, tenantId, {
        select: LISTED,
        from: 'approval.deputies',
        where: 'tenant_id = $1 AND until_at > $2',
        values: [tenantId, clock.now()],
        order: 'user_id',
        offset,
        limit,
      });
      const deputies = rows.map(({ user_id, deputy, from_at, until_at }) => ({
        user_id,
        deputy,
        from: from_at.toISOString(),
        until: until_at.toISOString(),
      }));
      return { ok: { deputies, total, offset } };
    },
  );
