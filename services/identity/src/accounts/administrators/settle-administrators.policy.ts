/** Updates the tenant's list of administrators after a change, even if the request that made it crashed. */
import type { Command, Recorded } from '@cardea/event-store';
import { policy } from '@cardea/service';
import { isDemotion } from '../users/ranks.ts';
import type { UserEvent } from '../users/user.ts';
import type { Administrators } from './administrators.ts';

type Changed = Recorded<
  UserEvent,
  'UserRegistered' | 'RolesChanged' | 'UserDisabled' | 'UserEnabled' | 'UserDeleted'
>;

export const settleAdministrators = (needs: {
  readonly administrators: Pick<Administrators, 'settle'>;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
}) => {
  const settle = async ({ id: eventId, data, metadata: { tenantId } }: Changed) => {
    const command = needs.systemCommand(tenantId, 'administrators', eventId);
    await needs.administrators.settle({ tenantId, userId: data.id }, command);
  };
  return policy<UserEvent>()({
    name: 'settle_administrators',
    on: {
      // Most accounts never have the role, so they are skipped here.
      UserRegistered: async (event) => {
        if (isDemotion(event.data.roles, [])) await settle(event);
      },
      RolesChanged: settle,
      UserDisabled: settle,
      UserEnabled: settle,
      UserDeleted: settle,
    },
  });
};
