/** After a user has given up an account elsewhere, another may link it. */
import { type Command, ignoring } from '@cardea/event-store';
import { policy } from '@cardea/service';
import type { ExternalIdentities } from '../external-identities.ts';
import type { UserEvent } from './user.ts';

export const releaseUnlinkedIdentities = (needs: {
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  readonly identities: Pick<ExternalIdentities, 'release'>;
}) =>
  policy<UserEvent>({
    name: 'release_unlinked_identities',
    on: {
      IdentityUnlinked: async ({ id: eventId, data, metadata: { tenantId } }) => {
        const command = needs.systemCommand(tenantId, 'release identity', eventId);
        await needs.identities.release({ tenantId, userId: data.id, hash: data.hash }, command);
      },
      ...ignoring(
        'no account elsewhere is given up by it, or its reservation is released otherwise',
        'UserAbandoned',
        'UserRegistered',
        'PasswordSet',
        'PasswordRehashed',
        'EmailVerified',
        'ProfileChanged',
        'RolesChanged',
        'UserVouched',
        'VouchWithdrawn',
        'FactorAdded',
        'FactorRemoved',
        'RecoveryCodesSet',
        'IdentityLinked',
        'AccountReclaimed',
        'UserDisabled',
        'UserEnabled',
        'SessionsRevoked',
        'UserDeleted',
      ),
    },
  });
