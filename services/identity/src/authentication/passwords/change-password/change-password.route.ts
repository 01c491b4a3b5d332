/** Sets a new password for the caller, who must know the old one. Every other session ends. */
import { endpoint } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import {
  exists,
  isReusedPassword,
  type Passwords,
  passwordFault,
  type UserDirectory,
  users,
} from '../../../accounts/accounts.module.ts';
import { closed, PASSWORD_BODY_MAX_BYTES } from '../../../http/answers.ts';
import { newPasswordField } from '../../../http/input-fields.ts';
import { ownSession } from '../../../sessions/sessions.module.ts';
import { TENANT_DEFAULTS, type Workspaces } from '../../../workspaces/workspaces.module.ts';
import { confirming } from '../../attempts/attempt.ts';
import { wrongCredential } from '../../attempts/end-attempt.ts';
import type { VerifyPassword } from '../../attempts/verify-password.ts';
import { changePassword } from './change-password.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'sealer' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'seal'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly passwords: Pick<Passwords, 'hash' | 'matches' | 'objectionTo'>;
  readonly verifyPassword: VerifyPassword;
};

export const changePasswordRoute = (needs: Dependencies) =>
  endpoint(
    {
      name: 'change_password',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'never',
      summary: 'Change my password',
      description:
        "Changes the caller's password, with the current one. The session of the call goes on, all others end.",
      tag: 'Self-service',
      method: 'post',
      path: '/api/v1/user/change-password',
      who: ['user'],
      tenant: 'optional',
      body: closed({ current_password: Type.String(), new_password: newPasswordField }),
      ok: closed({ status: Type.Literal('password changed') }),
      refusals: {
        password_too_short: 400,
        password_too_long: 400,
        password_too_weak: 400,
        password_breached: 400,
        password_reused: 400,
        invalid_credentials: 401,
        too_many_attempts: 429,
        rate_limited: 429,
      },
      consistency: { waitsFor: ['users'] },
      recordsItsRefusals: ['invalid_credentials', 'too_many_attempts'],
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    async (request) => {
      const caller = request.principal;
      const { current_password: current, new_password: next } = request.body;
      const tenant = await needs.workspaces.tenant(caller.tenantId);
      const policy = (tenant?.settings ?? TENANT_DEFAULTS).password_policy;
      const fault = passwordFault(next, policy);
      if (fault !== undefined) return { refused: fault };
      const user = await needs.userDirectory.byId(caller.tenantId, caller.id);
      if (!exists(user)) return { refused: 'invalid_credentials' };

      const command = await needs.command(request);
      const { attempt } = await needs.verifyPassword(
        confirming(user),
        {
          emailHash: user.emailHash,
          password: current,
          method: 'change_password',
          ip: request.ip,
        },
        { ...command, id: uuidFrom(command.id, 'attempt') },
      );
      if (attempt.status === 'refused') return wrongCredential(attempt);
      // Only a caller who knows the current password learns whether the new one was used before.
      if (
        await isReusedPassword(needs, { user, password: next, policy, tenantId: caller.tenantId })
      ) {
        return { refused: 'password_reused' };
      }

      const weakness = await needs.passwords.objectionTo(next, policy, caller.tenantId);
      if (weakness !== undefined) return { refused: weakness };
      const phc = await needs.passwords.hash(next, caller.tenantId);
      const of = { tenantId: caller.tenantId, userId: caller.id };
      const hash = await needs.userDirectory.seal(of, 'password_hash', phc);
      if (hash === 'erased') return { refused: 'invalid_credentials' };
      const keep = await ownSession(needs.streams, caller, command.now);
      const change = { verified: user, hash, keep, now: command.now };
      const decided = await needs.streams.decideOn(users, user.id, command, (state) =>
        changePassword(change, state),
      );
      if (!decided.accepted || !exists(decided.state)) return { refused: 'invalid_credentials' };
      return { ok: { status: 'password changed' as const }, wrote: decided.position };
    },
  );
