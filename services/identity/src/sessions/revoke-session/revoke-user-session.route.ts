/** An administrator ends one session of a user whose rank is not above theirs. */
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { exists, outranks, type UserDirectory } from '../../accounts/accounts.module.ts';
import { closed } from '../../http/answers.ts';
import { administratorOf } from '../../ranks/ranks.ts';
import type { ConsentEpoch } from '../validity-context.ts';
import { revokeOne } from './revoke-one.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly consentEpoch: ConsentEpoch;
};

const id = Type.String({ minLength: 1, maxLength: 128 });

export const revokeUserSessionRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      access: { class: 'things', applicationScope: 'roles' },
      name: 'revoke_user_session',
      machine: 'users:write',
      repeat: 'safe',
      summary: 'End one session of a user',
      description: 'Ends one session of a user; its next refresh is refused.',
      method: 'delete',
      path: '/api/v1/admin/users/{id}/sessions/{session_id}',
      who: ['admin', 'api_key:users:write'],
      params: Type.Object({ id, session_id: id }),
      ok: closed({ status: Type.Literal('revoked') }),
      refusals: { forbidden: 403, not_found: 404 },
      consistency: { waitsFor: ['sessions'] },
    },
    async (request) => {
      const { tenantId, params, principal } = request;
      const { id: userId, session_id: sid } = params;
      const user = await needs.userDirectory.byId(tenantId, userId);
      if (!exists(user)) return { refused: 'not_found' };
      if (outranks(user, administratorOf(principal))) return { refused: 'forbidden' };
      const command = await needs.command(request);
      const of = { tenantId, userId, user, sid, reason: 'admin' as const };
      const decided = await revokeOne(needs, of, command);
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'revoked' as const }, wrote: decided.position };
    },
  );
