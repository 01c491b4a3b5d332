/** Lists the caller's second factors from their streams. There are at most ten. */
import { NullableTime, named, Time } from '@cardea/contracts';
import type { Sealer } from '@cardea/crypto';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import {
  exists,
  NO_SECOND_FACTORS,
  type User,
  type UserDirectory,
} from '../../../accounts/accounts.module.ts';
import { closed } from '../../../http/answers.ts';
import { nullable } from '../../../http/input-fields.ts';
import { factorField } from '../../../streams/encrypted-fields.ts';
import { TENANT_DEFAULTS, type Workspaces } from '../../../workspaces/workspaces.module.ts';
import { type Factor, type FactorFacts, factors } from '../factor.ts';

type Dependencies = Pick<ServiceDependencies, 'sealer' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export const SecondFactor = named(
  'SecondFactor',
  closed({
    id: Type.String(),
    type: Type.String(),
    name: nullable(Type.String()),
    created_at: Time,
    last_used_at: NullableTime,
  }),
);

export const listFactorsRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'list_second_factors',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'My second factors',
      description:
        "Lists the caller's second factors, how many recovery codes are left, and what the tenant demands.",
      method: 'get',
      path: '/api/v1/me/mfa',
      ok: closed({
        policy: Type.String(),
        factors: Type.Array(SecondFactor),
        recovery_codes_remaining: Type.Integer(),
      }),
      refusals: {},
    },
    async ({ principal: { tenantId, id: userId } }) => {
      const [tenant, user] = await Promise.all([
        needs.workspaces.tenant(tenantId),
        needs.userDirectory.byId(tenantId, userId),
      ]);
      const { mfa_policy: policy } = tenant?.settings ?? TENANT_DEFAULTS;
      return { ok: { policy, ...(await shownFactors(needs, tenantId, user)) } };
    },
  );

export async function shownFactors(
  { sealer, streams }: Pick<Dependencies, 'sealer' | 'streams'>,
  tenantId: string,
  user: User,
) {
  const own = exists(user) ? user.secondFactors : NO_SECOND_FACTORS;
  const load = async (id: string): Promise<Factor> =>
    (await streams.load(factors, { tenantId, id })).state;
  const [listed, recovery] = await Promise.all([
    Promise.all(own.factors.map(({ id }) => load(id))),
    own.recoveryId === null ? undefined : load(own.recoveryId),
  ]);
  const shownOnes = listed.map(async (factor) =>
    factor.type === 'none' ? [] : [await shown(sealer, factor)],
  );
  return {
    factors: (await Promise.all(shownOnes)).flat(),
    recovery_codes_remaining: recovery?.type === 'recovery' ? recovery.code_hashes.length : 0,
  };
}

async function shown(sealer: Sealer, { id, user_id, type, name, ...times }: FactorFacts) {
  const place = factorField(user_id, id, 'name');
  return {
    id,
    type,
    name: name === null ? null : await sealer.open(name, place),
    created_at: times.enrolled_at,
    last_used_at: times.last_used_at,
  };
}
