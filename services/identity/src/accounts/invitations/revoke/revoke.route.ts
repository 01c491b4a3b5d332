/** An administrator withdraws an invitation. */

import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { administratorOf } from '../../../ranks/ranks.ts';
import { invitations } from '../invitation.ts';
import { PATH } from '../invitation-shape.ts';
import { revoke } from './revoke.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'>;

export const revokeInvitationRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      who: ['admin'],
      name: 'revoke_invitation',
      machine: 'users:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Withdraw an invitation',
      description: 'Withdraws an invitation: its link is not accepted any more.',
      method: 'delete',
      path: `${PATH}/{id}`,
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      ok: closed({ status: Type.Literal('invitation revoked') }),
      refusals: { forbidden: 403, not_found: 404 },
      consistency: { waitsFor: ['invitations'] },
    },
    async (request) => {
      const command = await needs.command(request);
      const by = administratorOf(request.principal);
      const decided = await needs.streams.decideOn(
        invitations,
        request.params.id,
        command,
        (invitation) => revoke({ by, now: command.now }, invitation),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'invitation revoked' as const }, wrote: decided.position };
    },
  );
