/**
 * An administrator unlocks an account. Not an API key: whoever can try passwords again and again would guess
 * them.
 */
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import {
  administratorOf,
  exists,
  outranks,
  type UserDirectory,
} from '../../../accounts/accounts.module.ts';
import { closed } from '../../../http/answers.ts';
import { signins } from '../lockout.ts';
import { unlock } from './unlock.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

export const unlockRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      tenant: 'required',
      area: 'admin',
      name: 'unlock_user',
      retry: 'safe',
      summary: 'Let a locked-out user try again',
      method: 'post',
      path: '/api/v1/admin/users/{id}/unlock',
      who: ['admin'],
      applicationScope: 'roles',
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      body: closed({}),
      bodyOptional: true,
      ok: closed({ status: Type.Literal('unlocked') }),
      refusals: { forbidden: 403, not_found: 404 },
      waitsFor: ['users'],
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
