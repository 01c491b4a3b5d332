/** Gives one of the caller's passkeys another name. */
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { displayName, exists, type UserDirectory } from '../../../accounts/accounts.module.ts';
import { badField, closed } from '../../../http/answers.ts';
import { displayNameField, nullable } from '../../../http/input-fields.ts';
import { factorField } from '../../../streams/encrypted-fields.ts';
import { factors } from '../factor.ts';
import { passkeyFields } from './list-passkeys.route.ts';
import { renameFactor } from './passkeys.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'sealer' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

export const renamePasskeyRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'rename_passkey',
      access: { class: 'settings', stepUp: 'none' },
      summary: 'Rename one of my passkeys',
      description: "Gives one of the caller's passkeys another name.",
      method: 'patch',
      path: '/api/v1/me/passkeys/{id}',
      repeat: 'safe',
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      body: closed({ name: nullable(displayNameField) }),
      ok: closed(passkeyFields),
      refusals: { invalid_request: 400, not_found: 404 },
    },
    async (request) => {
      const { principal, params, body } = request;
      const { id: userId, tenantId } = principal;
      const name = displayName(body.name);
      if (name === undefined) return badField('name');
      const user = await needs.userDirectory.byId(tenantId, userId);
      const own = exists(user) ? user.secondFactors.factors : [];
      if (!own.some(({ id, type }) => id === params.id && type === 'passkey')) {
        return { refused: 'not_found' };
      }
      const place = factorField(userId, params.id, 'name');
      const sealed = name === null ? null : await needs.sealer.seal(tenantId, place, name);
      if (sealed === 'erased') return { refused: 'not_found' };
      const command = await needs.command(request);
      const decided = await needs.streams.decideOn(factors, params.id, command, (factor) =>
        renameFactor({ userId, name: sealed }, factor),
      );
      if (!decided.accepted || decided.state.type !== 'passkey') return { refused: 'not_found' };
      const { id, device_type, backed_up, enrolled_at: created_at } = decided.state;
      return { ok: { id, name, device_type, backed_up, created_at }, wrote: decided.position };
    },
  );
