/** Sets a new password for the caller, who must know the old one. Every other session ends. */
import { asUser, type Endpoint, endpoint } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import Type from 'typebox';
import { passwordFault } from '../../../accounts/passwords/passwords.ts';
import { setPassword } from '../../../accounts/users/set-password.ts';
import { exists, users } from '../../../accounts/users/user.ts';
import { revokeAgentSessionsOf } from '../../../agents/agent-sessions/revoke-with-user.ts';
import { closed, PASSWORD_BODY_MAX_BYTES, USERS_ONLY } from '../../../http/answers.ts';
import type { Identity } from '../../../identity.ts';
import { ownSession } from '../../../sessions/surroundings.ts';
import { TENANT_DEFAULTS } from '../../../workspaces/tenants/tenant.ts';

export const changePasswordRoute = (identity: Identity): Endpoint =>
  endpoint(
    {
      name: 'change_password',
      summary: 'Change my password',
      tag: 'Self-service',
      method: 'post',
      path: '/api/v1/user/change-password',
      who: ['user'],
      tenant: 'optional',
      area: 'user',
      body: closed({ current_password: Type.String(), new_password: Type.String() }),
      ok: closed({ status: Type.Literal('password changed') }),
      refusals: {
        password_too_short: 400,
        password_too_long: 400,
        password_too_weak: 400,
        invalid_credentials: 401,
        too_many_attempts: 429,
        rate_limited: 429,
      },
      notTaken: USERS_ONLY,
      waitsFor: ['users'],
      recordsItsRefusals: ['invalid_credentials', 'too_many_attempts'],
      bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
    },
    async (request) => {
      const caller = asUser(request.principal);
      const { current_password: current, new_password: next } = request.body;
      const tenant = await identity.workspaces.tenant(caller.tenantId);
      const policy = (tenant?.settings ?? TENANT_DEFAULTS).password_policy;
      const fault = passwordFault(next, policy);
      if (fault !== undefined) return { refused: fault };
      const user = await identity.people.byId(caller.tenantId, caller.id);
      if (!exists(user)) return { refused: 'invalid_credentials' };

      const command = await identity.command(request);
      const attempt = await identity.signInGuard.attempt(
        {
          emailHash: user.emailHash,
          user,
          password: current,
          method: 'change_password',
          ip: request.ip,
        },
        { ...command, id: uuidFrom(command.id, 'attempt') },
      );
      if (attempt.outcome === 'limited' || attempt.outcome === 'blocked') {
        return {
          refused: attempt.outcome === 'limited' ? 'rate_limited' : 'too_many_attempts',
          headers: { 'Retry-After': String(attempt.retryAfterSeconds) },
        };
      }
      if (attempt.outcome !== 'right') return { refused: 'invalid_credentials' };

      const phc = await identity.passwords.hash(next);
      const of = { tenantId: caller.tenantId, userId: caller.id };
      const hash = await identity.people.seal(of, 'password_hash', phc);
      if (hash === 'erased') return { refused: 'invalid_credentials' };
      const keep = await ownSession(identity.streams, caller, command.now);
      const set = {
        hash,
        by: 'user',
        shown: user.passwordEpoch,
        keep,
        now: command.now,
      } as const;
      const decided = await identity.streams.decideOn(users, user.id, command, (state) =>
        setPassword(set, state),
      );
      if (!decided.accepted || !exists(decided.state)) return { refused: 'invalid_credentials' };
      const at = { tenantId: caller.tenantId, position: decided.position };
      await revokeAgentSessionsOf(identity, decided.state, at);
      return { ok: { status: 'password changed' as const }, wrote: decided.position };
    },
  );
