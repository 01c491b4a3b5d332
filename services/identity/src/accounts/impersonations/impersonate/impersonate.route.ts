/**
 * Issues a token with which an administrator acts as a member. It names both, and cannot make decisions for the member.
 */
import { type ImpersonationClaims, type SignToken, TOKEN_CLASSES } from '@cardea/auth';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { exists } from '../../users/user.ts';
import { impersonations } from '../impersonation.ts';
import { IMPERSONATION_S, impersonate } from './impersonate.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'ids' | 'settings' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly sign: SignToken;
};

const REASON_CHARACTERS_MAX = 200;
const MS = 1_000;

export const impersonateRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      name: 'impersonate_user',
      machine: 'never',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'never',
      summary: 'Act as a member, for ten minutes',
      description:
        'Answers an access token of a member for ten minutes, with a reason for the audit log. Everything done with it is recorded as done by the administrator. It changes no setting, decides no approval and starts no agent session.',
      method: 'post',
      path: '/api/v1/admin/users/{id}/impersonate',
      who: ['admin'],
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      body: closed({ reason: Type.String({ minLength: 1, maxLength: REASON_CHARACTERS_MAX }) }),
      ok: closed({ access_token: Type.String(), expires_in: Type.Integer() }),
      response: { status: 201, isSecret: true },
      refusals: { forbidden: 403, not_found: 404 },
    },
    async (request) => {
      const { tenantId, params, principal, body } = request;
      const readAt = needs.clock.now();
      const user = await needs.userDirectory.byId(tenantId, params.id);
      const command = await needs.command(request);
      // `iat` is before the member was read, so a change of rank that this read missed still ends the token.
      const issuedAt = Math.max(
        Math.floor(readAt.getTime() / MS),
        exists(user) ? user.tokensBefore : 0,
      );
      const expiresAt = issuedAt + IMPERSONATION_S;
      const id = needs.ids.next();
      const start = { id, user, adminId: principal.id, reason: body.reason, expiresAt };
      const decided = await needs.streams.decideOn(impersonations, id, command, (impersonation) =>
        impersonate(start, impersonation),
      );
      if (!decided.accepted) return { refused: decided.reason };
      if (!exists(user)) return { refused: 'not_found' };
      const { ISSUER } = needs.settings;
      const { typ, audience } = TOKEN_CLASSES.access;
      const claims: ImpersonationClaims = {
        iss: ISSUER,
        sub: user.id,
        aud: audience(ISSUER),
        jti: id,
        iat: issuedAt,
        exp: expiresAt,
        tid: tenantId,
        tenant_id: tenantId,
        act: { sub: principal.id },
        email: (await needs.userDirectory.emailOf(user)) ?? '',
        roles: user.roles,
      };
      const ok = { access_token: needs.sign(typ, claims), expires_in: IMPERSONATION_S };
      return { ok, wrote: decided.position };
    },
  );
