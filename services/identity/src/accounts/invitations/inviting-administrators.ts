/** Invites the first administrator of a tenant that an owner has just created. */
import { languageOf } from '@cardea/pages';
import { uuidFrom } from '@cardea/runtime';
import { newId, type ServiceDependencies } from '@cardea/service';
import { administratorOf } from '../../ranks/ranks.ts';
import type { InviteAdministrator } from '../../workspaces/workspaces.module.ts';
import { emailAddress, type ToAscii } from '../email-address.ts';
import type { UserDirectory } from '../user-directory.ts';
import type { InvitePerson } from './inviting.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'ids'> & {
  readonly userDirectory: Pick<UserDirectory, 'hashOf'>;
  readonly invitePerson: InvitePerson;
  readonly toAscii: ToAscii;
};

export const invitingAdministrators = (needs: Dependencies): InviteAdministrator => ({
  addressOf: (email) => emailAddress(email, needs.toAscii),
  invite: async (request, { tenantId, email, by }) => {
    const command = await needs.command(request, { tenantId });
    await needs.invitePerson(
      {
        id: newId(needs, request, 'invitation'),
        userId: newId(needs, request, 'user'),
        email,
        emailHash: await needs.userDirectory.hashOf(tenantId, email),
        roles: ['admin'],
        invitedBy: by,
        requestHash: null,
        language: languageOf(request.headers),
        by: administratorOf(request.principal),
      },
      { ...command, id: uuidFrom(command.id, 'invite') },
    );
  },
});
