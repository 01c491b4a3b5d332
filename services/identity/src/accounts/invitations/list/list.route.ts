/** Lists invitations that were neither accepted nor withdrawn, newest first. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { InvitationShape, PATH, statusAt } from '../invitation-shape.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database'>;

type Row = {
  readonly id: string;
  readonly email: string | null;
  readonly roles: string[];
  readonly user_id: string;
  readonly invited_by: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
};

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
      const { rows, total } = await needs.database.asTenant(tenantId, async (sql) => {
        const counted = await sql.query<{ total: number }>(
          'SELECT count(*)::integer AS total FROM identity.invitations WHERE tenant_id = $1',
          [tenantId],
        );
        const page = await sql.query<Row>(
          `SELECT id, email, roles, user_id, invited_by, created_at, expires_at
           FROM identity.invitations WHERE tenant_id = $1
           ORDER BY created_at DESC, id OFFSET $2 LIMIT $3`,
          [tenantId, offset, limit],
        );
        return { rows: page.rows, total: counted.rows[0]?.total ?? 0 };
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
