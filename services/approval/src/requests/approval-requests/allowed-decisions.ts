/**
 * Which decisions a person could make on a request now. It runs the decisions themselves and writes nothing, so that a
 * form that is shown is one that its viewer can use.
 */
import { approve } from './approve/approve.ts';
import { approvesAsAdmin, deciderOf } from './decider.ts';
import { deny } from './deny/deny.ts';
import type { ExistingRequest } from './request.ts';
import { APPROVE_REFUSALS, type Shown } from './request-shape.ts';
import { isVouchRequired, severalMayDecide } from './who-decides.ts';

type Dependencies = Parameters<typeof deciderOf>[0];
type Allowed = Required<Pick<Shown, 'allowed_decisions'>> & Pick<Shown, 'approve_refusal'>;
type Moment = { readonly userId: string; readonly now: Date };

export async function allowedDecisions(
  approval: Dependencies,
  request: ExistingRequest,
  { userId, now }: Moment,
): Promise<Allowed> {
  if (request.status !== 'pending') return { allowed_decisions: [] };
  const of = { tenantId: request.facts.tenant_id, userId };
  const [found, isAdmin] = await Promise.all([
    deciderAt(approval, request, { userId, now }),
    approvesAsAdmin(approval, of, request),
  ]);
  const decider = { ...found, now };
  // The caller may still sign in again, and type the code that the agent shows.
  const proofs = { authTime: now.getTime() / 1000, code: 'right' } as const;
  const approved = approve({ ...decider, ...proofs, isAdmin }, request);
  const denied = deny(decider, request);
  const allowed_decisions = [
    ...(approved.accepted ? ['approve' as const] : []),
    ...(denied.accepted ? ['deny' as const] : []),
  ];
  const refusal = approved.accepted
    ? undefined
    : APPROVE_REFUSALS.find((code) => code === approved.reason);
  return refusal === undefined
    ? { allowed_decisions }
    : { allowed_decisions, approve_refusal: refusal };
}

/** Looks nobody up if the result makes no difference, as for most requests to one person. */
async function deciderAt(
  approval: Dependencies,
  request: ExistingRequest,
  { userId, now }: Moment,
): ReturnType<typeof deciderOf> {
  const { facts } = request;
  const vouchRequired = isVouchRequired(facts);
  const isUncertain = severalMayDecide(facts) || (vouchRequired && facts.user_id === userId);
  if (!isUncertain) return { userId, holdsSet: false, userVouched: false, earlier: new Map() };
  const of = { tenantId: facts.tenant_id, userId, vouchRequired };
  return deciderOf(approval, of, { request, now });
}
