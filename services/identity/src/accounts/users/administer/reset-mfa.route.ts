/** Takes all second factors from an account; an API key, which ranks as a member, may not. */
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { objectionToOwnChange } from '../../../http/step-up.ts';
import { administratorOf } from '../administrator.ts';
import { users } from '../user.ts';
import { COMMON, Id } from './admin-answers.ts';
import { resetMfa } from './reset-mfa.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'streams'>;

export const resetMfaRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'reset_mfa',
      retry: 'safe',
      summary: 'Take all second factors from a user',
      method: 'post',
      path: '/api/v1/admin/users/{id}/reset-mfa',
      who: ['admin'],
      applicationScope: 'account',
      params: Id,
      ok: closed({ status: Type.Literal('mfa reset') }),
      refusals: { step_up_required: 401, forbidden: 403, not_found: 404 },
      waitsFor: ['users'],
    },
    async (request) => {
      const { principal, params } = request;
      // A role is no way around what everybody shows before they give up a factor of their own.
      const isOwn = params.id === principal.id;
      const objection = isOwn ? objectionToOwnChange(principal, needs.clock.now()) : undefined;
      if (objection !== undefined) return objection;
      const command = await needs.command(request);
      const reset = { by: administratorOf(principal), now: command.now };
      const decided = await needs.streams.decideOn(users, params.id, command, (user) =>
        resetMfa(reset, user),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'mfa reset' as const }, wrote: decided.position };
    },
  );
