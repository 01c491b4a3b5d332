/** Removes one of the caller's second factors. A passkey can also be removed by its own path. */
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { users } from '../../../accounts/accounts.module.ts';
import { closed } from '../../../http/answers.ts';
import type { Workspaces } from '../../../workspaces/workspaces.module.ts';
import { removeFactor } from './remove.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export const removeFactorRoute = (needs: Dependencies) =>
  removal(needs, {
    name: 'remove_second_factor',
    summary: 'Remove one of my second factors',
    description:
      'Removes a second factor of the caller. The last one stays where the tenant demands one.',
    path: '/api/v1/me/mfa/{id}',
  });

export const removePasskeyRoute = (needs: Dependencies) =>
  removal(needs, {
    name: 'remove_passkey',
    summary: 'Remove one of my passkeys',
    description:
      "Removes one of the caller's passkeys. The last one stays if the account has no password, or if the tenant demands a second factor.",
    path: '/api/v1/me/passkeys/{id}',
  });

const removal = (
  needs: Dependencies,
  of: {
    readonly name: string;
    readonly summary: string;
    readonly description: string;
    readonly path: string;
  },
) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      ...of,
      access: { class: 'settings', stepUp: 'users' },
      method: 'delete',
      repeat: 'safe',
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      ok: closed({ status: Type.Literal('removed') }),
      refusals: {
        not_found: 404,
        mfa_required_by_policy: 409,
        last_credential: 409,
      },
      consistency: { waitsFor: ['users'] },
    },
    async (request) => {
      const { principal, params } = request;
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
