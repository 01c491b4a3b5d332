/** Releases an external account that a user has unlinked, so that another user may link it. */
import { type Command, ignored } from '@cardea/event-store';
import { policy } from '@cardea/service';
import type { ExternalIdentities } from '../external-identities.ts';
import type { UserEvent } from './user.ts';

export const releaseUnlinkedIdentities = (needs: {
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  readonly identities: Pick<ExternalIdentities, 'release'>;
}) =>
  policy<UserEvent>()({
    name: 'release_unlinked_identities',
    on: {
      UserDeleted: ignored('whoever forgets the user releases them'),
      IdentityUnlinked: async ({ id: eventId, data, metadata: { tenantId } }) => {
        const command = needs.systemCommand(tenantId, 'release identity', eventId);
        await needs.identities.release({ tenantId, userId: data.id, hash: data.hash }, command);
      },
    },
  });
