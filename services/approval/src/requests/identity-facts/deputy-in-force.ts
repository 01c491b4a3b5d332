/** Finds the deputy who receives a request in place of the person to whom it is addressed. */
import type { FactCopies } from '@cardea/service';
import type { DeputyPeriod, IdentityFacts } from './identity-facts.ts';
import { userValidity } from './user-validity.ts';

/**
 * Returns undefined if the person has no deputy now, or if the deputy could not decide or is excluded. The request then
 * goes to the person. The deputy's own deputy is ignored.
 */
export async function deputyInForce(
  approval: {
    readonly identityFacts: IdentityFacts;
    readonly factCopies: Pick<FactCopies, 'user'>;
  },
  of: {
    readonly tenantId: string;
    readonly userId: string;
    readonly deputy: DeputyPeriod | undefined;
    readonly excludedUserId?: string | undefined;
  },
  now: Date,
): Promise<string | undefined> {
  const { tenantId, userId, deputy, excludedUserId } = of;
  if (deputy === undefined || now < deputy.from || now >= deputy.until) return undefined;
  if (deputy.userId === userId || deputy.userId === excludedUserId) return undefined;
  const asked = { tenantId, userId: deputy.userId };
  const { isActive, isVouched } = await userValidity(approval, asked, true);
  return isActive && isVouched ? deputy.userId : undefined;
}
