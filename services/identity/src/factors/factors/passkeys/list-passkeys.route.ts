/** Lists the caller's passkeys. */
import { NullableTime, named, Time } from '@cardea/contracts';
import type { Sealer } from '@cardea/crypto';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { exists, type UserDirectory } from '../../../accounts/accounts.module.ts';
import { closed } from '../../../http/answers.ts';
import { nullable } from '../../../http/input-fields.ts';
import { factorField } from '../../../streams/encrypted-fields.ts';
import { factors, type PasskeyFacts } from '../factor.ts';

type Dependencies = Pick<ServiceDependencies, 'sealer' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

export const passkeyFields = {
  id: Type.String(),
  name: nullable(Type.String()),
  device_type: Type.String(),
  backed_up: Type.Boolean(),
  created_at: Time,
};

export const listPasskeysRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'list_passkeys',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'My passkeys',
      description: "Lists the caller's passkeys.",
      method: 'get',
      path: '/api/v1/me/passkeys',
      ok: closed({
        passkeys: Type.Array(
          named('Passkey', closed({ ...passkeyFields, last_used_at: NullableTime })),
        ),
      }),
      refusals: {},
    },
    async ({ principal: { tenantId, id: userId } }) => {
      const user = await needs.userDirectory.byId(tenantId, userId);
      const own = exists(user) ? user.secondFactors.factors : [];
      const listed = own
        .filter(({ type }) => type === 'passkey')
        .map(async ({ id }) => {
          const { state } = await needs.streams.load(factors, { tenantId, id });
          return state.type === 'passkey' ? [await shown(needs.sealer, state)] : [];
        });
      return { ok: { passkeys: (await Promise.all(listed)).flat() } };
    },
  );

async function shown(sealer: Sealer, { id, user_id, name, ...facts }: PasskeyFacts) {
  const place = factorField(user_id, id, 'name');
  return {
    id,
    name: name === null ? null : await sealer.open(name, place),
    device_type: facts.device_type,
    backed_up: facts.backed_up,
    created_at: facts.enrolled_at,
    last_used_at: facts.last_used_at,
  };
}
