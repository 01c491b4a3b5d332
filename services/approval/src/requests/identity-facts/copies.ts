/** Approval's copies of identity's users, agents and tenants. */
import { jsonOf, orNull, table } from '@cardea/read-models';
import { agentCopies, userCopies } from '@cardea/service';

export const users = userCopies(
  'approval',
  'email',
  'display_name',
  'status',
  'vouched',
  'position',
  'locale',
);
export const agents = agentCopies('approval', 'name', 'owner_user_id', 'status', 'approvers');

export const tenantRows = table('tenants', {
  key: ['tenant_id'],
  columns: {
    tenant_id: 'text',
    channels: 'text[]',
    language: orNull('text'),
    display_name: orNull('text'),
    brand_color: orNull('text'),
    /**
     * The setting as it is stored: a set as its text. `false` means off. Null means that identity has not published the
     * setting yet.
     */
    agent_access: orNull(
      jsonOf<{ readonly approver: string; readonly max_seconds: number } | false>(),
    ),
  },
});
