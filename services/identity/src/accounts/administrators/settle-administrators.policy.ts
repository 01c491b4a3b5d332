/** Whatever becomes of the request that changed somebody, the tenant's list of administrators follows. */
import type { Command, RecordedEvent } from '@cardea/event-store';
import type { Policy } from '@cardea/service';
import { isDemotion } from '../users/user.ts';
import type { Administrators } from './administrators.ts';

export const settleAdministrators = (needs: {
  readonly administrators: Pick<Administrators, 'settle'>;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
}): Policy => ({
  name: 'settle_administrators',
  on: ['UserRegistered', 'RolesChanged', 'UserDisabled', 'UserEnabled', 'UserDeleted'],
  handle: async (event: RecordedEvent) => {
    const { id, roles } = event.data as unknown as {
      readonly id: string;
      readonly roles?: readonly string[];
    };
    // Most accounts never have the role.
    if (event.type === 'UserRegistered' && !isDemotion(roles ?? [], [])) return;
    const { tenantId } = event.metadata;
    const command = needs.systemCommand(tenantId, 'administrators', event.id);
    await needs.administrators.settle({ tenantId, userId: id }, command);
  },
});
