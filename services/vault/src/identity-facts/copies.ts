/** Vault's copies of identity's users and agents. */
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
