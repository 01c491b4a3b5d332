/** Approval's copies of identity's users and agents. */
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
