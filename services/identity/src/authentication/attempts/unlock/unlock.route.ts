/**
 * An administrator unlocks an account. API keys may not: a holder of one could otherwise guess passwords without limit.
 */

import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { exists, outranks, type UserDirectory } from '../../../accounts/accounts.module.ts';
import { closed } from '../../../http/answers.ts';
import { administratorOf } from '../../../ranks/ranks.ts';
import { signins } from '../../../streams/signin.ts';
import { unlock } from './unlock.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

export const unlockRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      name: 'unlock_user',
      machine: 'never',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Let a locked-out user try again',
      description:
        'Lets a user who is locked out after failed sign-ins or wrong binding codes try again, from every network.',
      method: 'post',
      path: '/api/v1/admin/users/{id}/unlock',
      who: ['admin'],
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      body: closed({}),
      input: { isOptional: true },
      ok: closed({ status: Type.Literal('unlocked') }),
      refusals: { forbidden: 403, not_found: 404 },
      consistency: { waitsFor: ['users'] },
    },
    async (request) => {
      const { tenantId, params, principal } = request;
      const user = await needs.userDirectory.byId(tenantId, params.id);
      if (!exists(user)) return { refused: 'not_found' };
      if (outranks(user, administratorOf(principal))) return { refused: 'forbidden' };
      const command = await needs.command(request);
      const clearing = { userId: user.id, now: command.now };
      const decided = await needs.streams.decideOn(signins, user.emailHash, command, (signin) =>
        unlock(clearing, signin),
      );
      return { ok: { status: 'unlocked' as const }, wrote: decided.position };
    },
  );
