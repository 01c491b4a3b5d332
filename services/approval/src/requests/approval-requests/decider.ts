/**
 * Determines who decides a request: the person whom it names, or everyone who belongs to the set that it names at that
 * moment. After an escalation, the second approver may decide, too.
 */
import type { AgentPrincipal, UserPrincipal } from '@cardea/auth';
import type { NamedApprover } from '@cardea/contracts';
import type { FactCopies } from '@cardea/service';
import { type HolderStatus, NOBODY, type SetHolders } from '@cardea/service';
import type { IdentityFacts } from '../identity-facts/identity-facts.ts';
import { userValidity } from '../identity-facts/user-validity.ts';
import { type ApprovalRequest, type ExistingRequest, givenBy } from './request.ts';
import { isImpersonated, maySee } from './request-shape.ts';
import { type Decider, isVouchRequired, secondApprover, severalMayDecide } from './who-decides.ts';

type DeciderDependencies = {
  readonly setHolders: SetHolders;
  readonly identityFacts: IdentityFacts;
  readonly factCopies: Pick<FactCopies, 'user'>;
};

type Found = Decider & {
  readonly userVouched: boolean;
  /** Whether each earlier approver may still approve. */
  readonly earlier: ReadonlyMap<string, boolean>;
};

type Moment = { readonly request: ApprovalRequest; readonly now: Date };

/**
 * Looks everyone involved up live if several may decide. If the request names one person, it looks up only that
 * person's validity.
 */
export async function deciderOf(
  approval: DeciderDependencies,
  of: { readonly tenantId: string; readonly userId: string; readonly vouchRequired: boolean },
  { request, now }: Moment,
): Promise<Found> {
  const { tenantId, userId, vouchRequired } = of;
  if (request.status === 'none' || !severalMayDecide(request.facts)) {
    const { isVouched } = await userValidity(approval, { tenantId, userId }, vouchRequired);
    return { userId, holdsSet: false, userVouched: isVouched, earlier: new Map() };
  }
  const given = request.status === 'pending' ? givenBy(request) : [];
  const userIds = [...new Set([userId, ...given])];
  const statusOf = await statusesOf(approval, userIds, { request, now });
  const { holdsFirst, holdsSecond, isVouched } = statusOf(userId);
  const earlier = new Map(given.map((id) => [id, statusOf(id).counts]));
  return { userId, holdsSet: holdsFirst, holdsSecond, userVouched: isVouched, earlier };
}

const ADMINISTRATORS = { role: 'admin' } as const;

/** Asks identity only if the request gives access. */
export async function approvesAsAdmin(
  { setHolders }: Pick<DeciderDependencies, 'setHolders'>,
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
  request: ApprovalRequest,
): Promise<boolean> {
  if (request.status !== 'pending' || request.facts.access === undefined) return false;
  const asked = { tenantId, set: ADMINISTRATORS, userIds: [userId] };
  return (await setHolders.standing(asked)).get(userId)?.holds === true;
}

type Status = {
  readonly holdsFirst: boolean;
  readonly holdsSecond: boolean;
  readonly isVouched: boolean;
  /** Whether an approval of this person counts now. */
  readonly counts: boolean;
};

/** The relation of each person to the first approver of a request and, once it is escalated, to the second one. */
export async function statusesOf(
  approval: DeciderDependencies,
  userIds: readonly string[],
  { request, now }: { readonly request: ExistingRequest; readonly now: Date },
): Promise<(userId: string) => Status> {
  const { facts } = request;
  const { tenant_id: tenantId } = facts;
  const first = facts.approver ?? { user_id: facts.user_id };
  const second = secondApprover(request, now);
  // The first person needs a vouch only if the policy requires one.
  const isLenient = facts.approver === undefined && !isVouchRequired(facts);
  const [firsts, seconds] = await Promise.all([
    holdersAmong(approval, { tenantId, userIds, approver: first }),
    second === undefined
      ? new Map<string, HolderStatus>()
      : holdersAmong(approval, { tenantId, userIds, approver: second }),
  ]);
  return (userId) => {
    const { holds: holdsFirst, isVouched: isVouchedFirst } = firsts.get(userId) ?? NOBODY;
    const { holds: holdsSecond, isVouched: isVouchedSecond } = seconds.get(userId) ?? NOBODY;
    const isVouched = isVouchedFirst || isVouchedSecond;
    const counts = (holdsFirst && (isLenient || isVouched)) || (holdsSecond && isVouched);
    return { holdsFirst, holdsSecond, isVouched, counts };
  };
}

async function holdersAmong(
  approval: DeciderDependencies,
  of: {
    readonly tenantId: string;
    readonly userIds: readonly string[];
    readonly approver: NamedApprover;
  },
): Promise<ReadonlyMap<string, HolderStatus>> {
  const { tenantId, userIds, approver } = of;
  if (!('user_id' in approver)) {
    return approval.setHolders.standing({ tenantId, set: approver, userIds });
  }
  const { user_id: userId } = approver;
  if (!userIds.includes(userId)) return new Map();
  const { isActive, isVouched } = await userValidity(approval, { tenantId, userId }, true);
  return new Map([[userId, { holds: isActive, isVouched }]]);
}

/** Whether the caller may read a request. Sets are looked up only if the caller may not read it otherwise. */
export async function mayRead(
  { setHolders }: Pick<DeciderDependencies, 'setHolders'>,
  principal: AgentPrincipal | UserPrincipal,
  { request, now }: { readonly request: ExistingRequest; readonly now: Date },
): Promise<boolean> {
  const { facts } = request;
  if (maySee(principal, facts)) return true;
  if (principal.kind !== 'user' || isImpersonated(principal)) return false;
  const { id } = principal;
  const second = secondApprover(request, now);
  const addressees = [facts.approver, second].filter((each) => each !== undefined);
  const stands = addressees.map(async (approver) => {
    if ('user_id' in approver) return approver.user_id === id;
    const { tenant_id: tenantId } = facts;
    const standing = await setHolders.standing({ tenantId, set: approver, userIds: [id] });
    return standing.get(id)?.holds === true;
  });
  return (await Promise.all(stands)).includes(true);
}
