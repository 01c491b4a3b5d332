/** Enrols an authenticator app: first its secret is shown, then its first code confirms it. */
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { displayName, exists, type UserDirectory } from '../../../accounts/accounts.module.ts';
import { badField, closed } from '../../../http/answers.ts';
import { displayNameField } from '../../../http/input-fields.ts';
import type { Workspaces } from '../../../workspaces/workspaces.module.ts';
import type { SecondFactors } from '../../second-factors.ts';
import { counted, isOff } from '../../self-service.ts';
import { FACTORS_MAX } from '../add-factor.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'limits'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly secondFactors: Pick<SecondFactors, 'enrolTotp' | 'confirmTotp'>;
};

export const enrolTotpRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'enrol_totp',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Enrol an authenticator app',
      description:
        'Begins to enrol an authenticator app and shows its secret this once. Confirm it within 10 minutes, otherwise nothing is enrolled. A user has at most 10 factors.',
      method: 'post',
      path: '/api/v1/me/mfa/totp',
      repeat: 'never',
      body: closed({ name: Type.Optional(displayNameField) }),
      input: { isOptional: true },
      ok: closed({ factor_id: Type.String(), secret: Type.String(), otpauth_url: Type.String() }),
      response: { status: 201 },
      refusals: {
        invalid_request: 400,
        mfa_disabled: 403,
        not_found: 404,
        too_many_factors: 409,
      },
    },
    async (request) => {
      const { principal, body } = request;
      const name = displayName(body.name ?? null);
      if (name === undefined) return badField('name');
      const { tenantId, id } = principal;
      const [tenant, user] = await Promise.all([
        needs.workspaces.tenant(tenantId),
        needs.userDirectory.byId(tenantId, id),
      ]);
      if (tenant === undefined || !exists(user)) return { refused: 'not_found' };
      if (isOff(tenant)) return { refused: 'mfa_disabled' };
      if (user.secondFactors.factors.length >= FACTORS_MAX) return { refused: 'too_many_factors' };
      const enrolled = await needs.secondFactors.enrolTotp(
        {
          user,
          name,
          account: (await needs.userDirectory.emailOf(user)) ?? '',
          issuer: tenant.displayName,
        },
        await needs.command(request),
      );
      if (enrolled === 'erased') return { refused: 'not_found' };
      const { factorId: factor_id, secret, url: otpauth_url } = enrolled;
      return { ok: { factor_id, secret, otpauth_url } };
    },
  );

export const confirmTotpRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'confirm_totp',
      access: { class: 'settings', stepUp: 'none' },
      summary: 'Confirm an authenticator app by its first code',
      description:
        'Confirms an authenticator app by the first code that it shows, and answers ten recovery codes, which are not shown again.',
      method: 'post',
      path: '/api/v1/me/mfa/totp/{id}/confirm',
      repeat: 'never',
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      body: closed({ code: Type.String({ maxLength: 64 }) }),
      ok: closed({
        status: Type.Literal('enabled'),
        recovery_codes: Type.Array(Type.String()),
      }),
      refusals: {
        invalid_code: 401,
        not_found: 404,
        too_many_factors: 409,
        enrolment_expired: 410,
        rate_limited: 429,
      },
      consistency: { waitsFor: ['users'] },
    },
    async (request) => {
      const { id: userId, tenantId } = request.principal;
      const of = { userId, factorId: request.params.id, code: request.body.code };
      const tried = async () => {
        const confirmed = await needs.secondFactors.confirmTotp(of, await needs.command(request));
        const isWrong = !confirmed.confirmed && confirmed.reason === 'invalid_code';
        return { isWrong, confirmed };
      };
      const answer = await counted(needs.limits, request, { tenantId, userId, tried });
      if ('refused' in answer) return answer;
      const { confirmed } = answer;
      if (!confirmed.confirmed) {
        const { reason } = confirmed;
        return { refused: reason === 'expired' ? 'enrolment_expired' : reason };
      }
      const { recoveryCodes, position } = confirmed;
      return {
        ok: { status: 'enabled' as const, recovery_codes: [...recoveryCodes] },
        wrote: position,
      };
    },
  );
