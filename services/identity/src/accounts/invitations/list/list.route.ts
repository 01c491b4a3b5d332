/** Lists invitations that were neither accepted nor withdrawn, newest first. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import { pageOfTenant } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { InvitationShape, PATH, statusAt } from '../invitation-shape.ts';
import { invitationRows } from '../invitations.projection.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database'>;

const LISTED = invitationRows.select(
  'id',
  'email',
  'roles',
  'user_id',
  'invited_by',
  'created_at',
  'expires_at',
);

export const listInvitationsRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      who: ['admin'],
      name: 'list_invitations',
      machine: 'users:read',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'List invitations',
      description:
        'Lists invitations that can be accepted or have lapsed, with the roles that they give.',
      method: 'get',
      path: PATH,
      query: Type.Object(pageQuery),
      ok: closed({ invitations: Type.Array(InvitationShape), ...pageAnswer }),
      refusals: {},
      consistency: { reads: ['invitations'] },
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const now = needs.clock.now();
      const { rows, total } = await pageOfTenant(needs.database, tenantId, {
        select: LISTED,
        from: 'identity.invitations',
        where: 'tenant_id = $1',
        values: [tenantId],
        order: 'created_at DESC, id',
        offset,
        limit,
      });
      const invitations = rows.map((row) => ({
        ...row,
        email: row.email ?? '',
        status: statusAt(row.expires_at, now),
        created_at: row.created_at.toISOString(),
        expires_at: row.expires_at.toISOString(),
      }));
      return { ok: { invitations, total, offset, limit } };
    },
  );
