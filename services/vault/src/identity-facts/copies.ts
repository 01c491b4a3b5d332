/** Vault's copies of identity's users, agents and agent sessions. */
import { orNull, table } from '@cardea/read-models';
import { agentCopies, userCopies } from '@cardea/service';

export const users = userCopies('vault', 'status', 'vouched', 'position');
export const agents = agentCopies(
  'vault',
  'services',
  'status',
  'changed_at',
  'owner_user_id',
  'position',
);

export const sessionRows = table('agent_sessions', {
  key: ['tenant_id', 'session_id'],
  columns: {
    tenant_id: 'text',
    session_id: 'text',
    agent_id: 'text',
    user_id: orNull('text'),
    epoch: 'integer',
    expires_at: 'timestamptz',
    ended_at: orNull('timestamptz'),
    position: 'bigint',
  },
});
