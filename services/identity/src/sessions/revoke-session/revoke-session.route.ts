/** Ends one of a user's own sessions, or all except the caller's. */
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { endSessions, exists, type UserDirectory, users } from '../../accounts/accounts.module.ts';
import { closed } from '../../http/answers.ts';
import { countAliveSessions } from '../alive-sessions.ts';
import { type ConsentEpoch, ownSession } from '../validity-context.ts';
import { revokeOne } from './revoke-one.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'database' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly consentEpoch: ConsentEpoch;
};

export const revokeSessionRoute = (needs: Dependencies) =>
  endpoint(
    {
      name: 'revoke_my_session',
      access: { class: 'things', applicationScope: 'account' },
      repeat: 'safe',
      summary: 'End one of my sessions',
      description: 'Ends one session of the caller; its next refresh is refused.',
      tag: 'Self-service',
      method: 'delete',
      path: '/api/v1/me/sessions/{id}',
      who: ['user'],
      tenant: 'optional',
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      ok: closed({ status: Type.Literal('revoked') }),
      refusals: { not_found: 404 },
      consistency: { waitsFor: ['sessions'] },
    },
    async (request) => {
      const { id: userId, tenantId } = request.principal;
      const sid = request.params.id;
      const user = await needs.userDirectory.byId(tenantId, userId);
      const command = await needs.command(request);
      const of = { tenantId, userId, user, sid, reason: 'user' as const };
      const decided = await revokeOne(needs, of, command);
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'revoked' as const }, wrote: decided.position };
    },
  );

export const revokeSessionsRoute = (needs: Dependencies) =>
  endpoint(
    {
      name: 'revoke_my_other_sessions',
      access: { class: 'things', applicationScope: 'account' },
      repeat: 'safe',
      summary: 'End all my sessions but this one',
      description:
        'Ends all sessions of the caller but the one of this call. Access tokens that were issued run out by themselves.',
      tag: 'Self-service',
      method: 'delete',
      path: '/api/v1/me/sessions',
      who: ['user'],
      tenant: 'optional',
      ok: closed({ revoked: Type.Integer(), kept: Type.Integer() }),
      refusals: { not_found: 404 },
      consistency: { waitsFor: ['users', 'sessions'] },
    },
    async (request) => {
      const caller = request.principal;
      const { id: userId, tenantId } = caller;
      const command = await needs.command(request);
      const { now } = command;
      const [alive, keep] = await Promise.all([
        countAliveSessions(needs.database, { tenantId, userId, now, sid: caller.sessionId }),
        ownSession(needs.streams, caller, now),
      ]);
      const end = { keep, count: keep === null ? alive.all : alive.others, now };
      const decided = await needs.streams.decideOn(users, userId, command, (user) =>
        endSessions(end, user),
      );
      if (!decided.accepted || !exists(decided.state)) return { refused: 'not_found' };
      const { keepSid } = decided.state;
      const ok =
        keepSid === null ? { revoked: alive.all, kept: 0 } : { revoked: alive.others, kept: 1 };
      return { ok, wrote: decided.position };
    },
  );
