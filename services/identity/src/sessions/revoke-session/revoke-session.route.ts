/** Ends one of a user's own sessions, or all except the caller's. */
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { endSessions, exists, type UserDirectory, users } from '../../accounts/accounts.module.ts';
import { closed, USERS_ONLY } from '../../http/answers.ts';
import { aliveSessions } from '../alive-sessions.ts';
import { sessions } from '../session.ts';
import { type ConsentEpoch, ownSession, validityContextOf } from '../validity-context.ts';
import { revokeSession } from './revoke-session.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'database' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly consentEpoch: ConsentEpoch;
};

export const revokeSessionRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'revoke_my_session',
      retry: 'safe',
      summary: 'End one of my sessions',
      tag: 'Self-service',
      method: 'delete',
      path: '/api/v1/me/sessions/{id}',
      who: ['user'],
      applicationScope: 'account',
      tenant: 'optional',
      area: 'user',
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      ok: closed({ status: Type.Literal('revoked') }),
      refusals: { not_found: 404 },
      notTaken: USERS_ONLY,
      waitsFor: ['sessions'],
    },
    async (request) => {
      const { id: userId, tenantId } = request.principal;
      const sid = request.params.id;
      const user = await needs.userDirectory.byId(tenantId, userId);
      const command = await needs.command(request);
      const { state } = await needs.streams.load(sessions, { tenantId, id: sid });
      const consentId = state.status === 'none' ? null : state.consent_id;
      const epoch = consentId === null ? null : await needs.consentEpoch(tenantId, consentId);
      const validity = validityContextOf(user, true, epoch);
      const decided = await needs.streams.decideOn(sessions, sid, command, (session) =>
        revokeSession({ userId, reason: 'user', now: command.now, validity }, session),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'revoked' as const }, wrote: decided.position };
    },
  );

export const revokeSessionsRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'revoke_my_other_sessions',
      retry: 'safe',
      summary: 'End all my sessions but this one',
      tag: 'Self-service',
      method: 'delete',
      path: '/api/v1/me/sessions',
      who: ['user'],
      applicationScope: 'account',
      tenant: 'optional',
      area: 'user',
      ok: closed({ revoked: Type.Integer(), kept: Type.Integer() }),
      refusals: { not_found: 404 },
      notTaken: USERS_ONLY,
      waitsFor: ['users', 'sessions'],
    },
    async (request) => {
      const caller = request.principal;
      const { id: userId, tenantId } = caller;
      const command = await needs.command(request);
      const [alive, keep] = await Promise.all([
        aliveSessions(needs.database, { tenantId, userId, now: command.now }),
        ownSession(needs.streams, caller, command.now),
      ]);
      const count = alive.filter(({ id }) => id !== keep?.sid).length;
      const end = { keep, count, now: command.now };
      const decided = await needs.streams.decideOn(users, userId, command, (user) =>
        endSessions(end, user),
      );
      if (!decided.accepted || !exists(decided.state)) return { refused: 'not_found' };
      const { keepSid } = decided.state;
      const ended = alive.map(({ id }) => id).filter((id) => id !== keepSid);
      const kept = keepSid === null ? 0 : 1;
      return { ok: { revoked: ended.length, kept }, wrote: decided.position };
    },
  );
