/** Lists the external accounts by which the caller signs in, and unlinks one of them. */
import { named, Time } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { SOCIAL_PROVIDERS } from '../../../workspaces/workspaces.module.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { exists, users } from '../user.ts';
import { unlinkIdentity } from './unlink-identity.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

const Provider = named('SocialProvider', Type.Enum([...SOCIAL_PROVIDERS]));

export const listIdentitiesRoute = (needs: Pick<Dependencies, 'userDirectory'>) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'list_my_identities',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'List the accounts elsewhere that I sign in by',
      description: 'Lists the accounts at providers by which the caller signs in.',
      method: 'get',
      path: '/api/v1/me/identities',
      ok: closed({
        identities: Type.Array(
          named('LinkedIdentity', closed({ provider: Provider, linked_at: Time })),
        ),
      }),
      refusals: {},
    },
    async ({ principal: { tenantId, id } }) => {
      const user = await needs.userDirectory.byId(tenantId, id);
      const identities = exists(user) ? user.identities : [];
      const shown = identities.map(({ provider, linkedAt }) => ({ provider, linked_at: linkedAt }));
      return { ok: { identities: shown } };
    },
  );

export const unlinkIdentityRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'unlink_my_identity',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Sign in by an account elsewhere no longer',
      description: 'Gives up an account at a provider. The last way to sign in stays.',
      method: 'delete',
      path: '/api/v1/me/identities/{provider}',
      repeat: 'safe',
      params: Type.Object({ provider: Type.String({ minLength: 1, maxLength: 64 }) }),
      ok: closed({ status: Type.Literal('unlinked') }),
      refusals: { not_found: 404, last_credential: 409 },
      consistency: { waitsFor: ['users'] },
    },
    async (request) => {
      const { principal, params } = request;
      const command = await needs.command(request);
      const decided = await needs.streams.decideOn(users, principal.id, command, (user) =>
        unlinkIdentity({ provider: params.provider, now: command.now }, user),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'unlinked' as const }, wrote: decided.position };
    },
  );
