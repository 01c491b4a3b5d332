/** Who decides a request: the person whom it names or, of a set, everyone who stands in it at that moment. */
import type { AgentPrincipal, UserPrincipal } from '@cardea/auth';
import type { FactCopies } from '@cardea/service';
import { NOBODY, type SetHolders } from '@cardea/service';
import type { IdentityFacts } from '../identity-facts/identity-facts.ts';
import { userValidity } from '../identity-facts/user-validity.ts';
import { type ApprovalRequest, type Decider, givenBy, type RequestFacts } from './request.ts';
import { isImpersonated, maySee } from './request-shape.ts';

type DeciderDependencies = {
  readonly setHolders: SetHolders;
  readonly identityFacts: IdentityFacts;
  readonly factCopies: Pick<FactCopies, 'user'>;
};

type Found = Decider & {
  readonly userVouched: boolean;
  /** Whether those who approved before still may. */
  readonly earlier: ReadonlyMap<string, boolean>;
};

/** Looks everybody up live where a set is asked; nothing more is asked where a person is named. */
export async function deciderOf(
  approval: DeciderDependencies,
  of: { readonly tenantId: string; readonly userId: string; readonly vouchRequired: boolean },
  request: ApprovalRequest,
): Promise<Found> {
  const { tenantId, userId, vouchRequired } = of;
  const set = request.status === 'none' ? undefined : request.facts.approver;
  if (set === undefined) {
    const { isVouched } = await userValidity(approval, { tenantId, userId }, vouchRequired);
    return { userId, holdsSet: false, userVouched: isVouched, earlier: new Map() };
  }
  const given = request.status === 'pending' ? givenBy(request) : [];
  const userIds = [...new Set([userId, ...given])];
  const standing = await approval.setHolders.standing({ tenantId, set, userIds });
  const { holds: holdsSet, isVouched: userVouched } = standing.get(userId) ?? NOBODY;
  const earlier = new Map(
    given.map((id) => {
      const { holds, isVouched } = standing.get(id) ?? NOBODY;
      return [id, holds && isVouched];
    }),
  );
  return { userId, holdsSet, userVouched, earlier };
}

/** Whether the caller may read a request; a set is looked up only for a person who may not read it anyway. */
export async function mayRead(
  { setHolders }: Pick<DeciderDependencies, 'setHolders'>,
  principal: AgentPrincipal | UserPrincipal,
  facts: RequestFacts,
): Promise<boolean> {
  if (maySee(principal, facts)) return true;
  const { approver: set, tenant_id: tenantId } = facts;
  if (set === undefined || principal.kind !== 'user' || isImpersonated(principal)) return false;
  const { id } = principal;
  const standing = await setHolders.standing({ tenantId, set, userIds: [id] });
  return standing.get(id)?.holds === true;
}
