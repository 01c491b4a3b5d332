/** The schemas of a deputy in requests and responses, and functions that the endpoints share. */
import type { UserPrincipal } from '@cardea/auth';
import { named, Time } from '@cardea/contracts';
import type { FactCopies, ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import {
  type IdentityFacts,
  isImpersonated,
  isLive,
  USERS_ONLY,
} from '../requests/requests.module.ts';
import type { Deputyship } from './deputy.ts';

export type DeputyDependencies = Pick<
  ServiceDependencies,
  'streams' | 'command' | 'clock' | 'database' | 'revocations'
> & {
  readonly identityFacts: IdentityFacts;
  readonly factCopies: Pick<FactCopies, 'user'>;
};

export const OWN_DEPUTY = {
  tag: 'Approval deputies',
  path: '/api/v1/ciba/deputy',
  who: ['user'],
  notTaken: USERS_ONLY,
} as const;
export const DEPUTY_REFUSALS = { unauthenticated: 401, user_session_required: 401 } as const;

export const userIdField = Type.String({ minLength: 1, maxLength: 128 });

export const deputyShape = named(
  'ApprovalDeputy',
  Type.Object(
    { user_id: Type.String(), name: Type.String(), from: Time, until: Time },
    { additionalProperties: false },
  ),
);
/** A person sees the name or the address of the deputy, since ids mean nothing to people. */
export const shownDeputy = async (
  { identityFacts }: Pick<DeputyDependencies, 'identityFacts'>,
  tenantId: string,
  { deputy, from, until }: Deputyship,
): Promise<Static<typeof deputyShape>> => ({
  user_id: deputy,
  name: await identityFacts.nameOrAddress(tenantId, deputy),
  from,
  until,
});

export const removedShape = Type.Object(
  { status: Type.Literal('deputy removed') },
  { additionalProperties: false },
);
export const REMOVED = { status: 'deputy removed' } as const;

export const targetOf = (userId: string) => ({ type: 'user', id: userId });

/**
 * Refuses everyone but the person themselves: agents, administrators who act in the person's name, and disabled users.
 */
export async function refusedToAct(
  dependencies: DeputyDependencies,
  { principal, tenantId }: { readonly principal: UserPrincipal; readonly tenantId: string },
): Promise<keyof typeof DEPUTY_REFUSALS | undefined> {
  if (isImpersonated(principal)) return 'user_session_required';
  return (await isLive(dependencies, tenantId, principal.id)) ? undefined : 'unauthenticated';
}
