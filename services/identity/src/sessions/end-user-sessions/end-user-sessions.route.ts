/** An administrator ends all sessions of a user. */

import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { users } from '../../accounts/accounts.module.ts';
import { closed } from '../../http/answers.ts';
import { administratorOf } from '../../ranks/ranks.ts';
import { countAliveSessions } from '../alive-sessions.ts';
import { endUserSessions } from './end-user-sessions.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'database' | 'streams'>;

export const endUserSessionsRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      name: 'revoke_user_sessions',
      machine: 'users:write',
      access: { class: 'things', applicationScope: 'roles' },
      repeat: 'safe',
      summary: 'End all sessions of a user',
      description:
        'Ends all sessions of a user. Access tokens that were issued run out by themselves; introspection reports them as inactive at once.',
      method: 'post',
      path: '/api/v1/admin/users/{id}/revoke-sessions',
      who: ['admin', 'api_key:users:write'],
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      body: closed({}),
      input: { isOptional: true },
      ok: closed({ revoked: Type.Integer() }),
      refusals: { forbidden: 403, not_found: 404 },
      consistency: { waitsFor: ['users', 'sessions'] },
    },
    async (request) => {
      const { tenantId, params, principal } = request;
      const command = await needs.command(request);
      const { now } = command;
      const ofUser = { tenantId, userId: params.id, now };
      const { all: count } = await countAliveSessions(needs.database, ofUser);
      const end = { by: administratorOf(principal), count, now };
      const decided = await needs.streams.decideOn(users, params.id, command, (user) =>
        endUserSessions(end, user),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { revoked: count }, wrote: decided.position };
    },
  );
