/** Removes all second factors of an account. API keys rank as members, so they may not. */

import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { administratorOf } from '../../../ranks/ranks.ts';
import { users } from '../user.ts';
import { Id } from './admin-answers.ts';
import { resetMfa } from './reset-mfa.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'>;

export const resetMfaRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      name: 'reset_mfa',
      machine: 'never',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Take all second factors from a user',
      description:
        'Takes all second factors from a user who has lost them. Sessions go on; a sign-in that waits for a second factor does not.',
      method: 'post',
      path: '/api/v1/admin/users/{id}/reset-mfa',
      who: ['admin'],
      params: Id,
      ok: closed({ status: Type.Literal('mfa reset') }),
      refusals: { forbidden: 403, not_found: 404 },
      consistency: { waitsFor: ['users'] },
    },
    async (request) => {
      const { principal, params } = request;
      const command = await needs.command(request);
      const reset = { by: administratorOf(principal), now: command.now };
      const decided = await needs.streams.decideOn(users, params.id, command, (user) =>
        resetMfa(reset, user),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'mfa reset' as const }, wrote: decided.position };
    },
  );
