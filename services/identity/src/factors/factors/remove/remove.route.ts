/** Removes one of the caller's second factors, a passkey by its own path too. */
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { users } from '../../../accounts/accounts.module.ts';
import { closed } from '../../../http/answers.ts';
import { objectionToOwnChange } from '../../../http/step-up.ts';
import type { Workspaces } from '../../../workspaces/workspaces.module.ts';
import { COMMON } from '../../self-service.ts';
import { removeFactor } from './remove.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'streams'> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export const removeFactorRoute = (needs: Dependencies): Endpoint =>
  removal(needs, {
    name: 'remove_second_factor',
    summary: 'Remove one of my second factors',
    path: '/api/v1/me/mfa/{id}',
  });

export const removePasskeyRoute = (needs: Dependencies): Endpoint =>
  removal(needs, {
    name: 'remove_passkey',
    summary: 'Remove one of my passkeys',
    path: '/api/v1/me/passkeys/{id}',
  });

const removal = (
  needs: Dependencies,
  of: { readonly name: string; readonly summary: string; readonly path: string },
): Endpoint =>
  endpoint(
    {
      ...COMMON,
      ...of,
      method: 'delete',
      retry: 'safe',
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      ok: closed({ status: Type.Literal('removed') }),
      refusals: {
        step_up_required: 401,
        forbidden: 403,
        not_found: 404,
        mfa_required_by_policy: 409,
        last_credential: 409,
      },
      waitsFor: ['users'],
    },
    async (request) => {
      const { principal, params } = request;
      const objection = objectionToOwnChange(principal, needs.clock.now());
      if (objection !== undefined) return objection;
      const tenant = await needs.workspaces.tenant(principal.tenantId);
      const isRequired = tenant?.settings.mfa_policy === 'required';
      const command = await needs.command(request);
      const remove = { factorId: params.id, isRequired, now: command.now };
      const decided = await needs.streams.decideOn(users, principal.id, command, (user) =>
        removeFactor(remove, user),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'removed' as const }, wrote: decided.position };
    },
  );
