/** The deputy to whom a request is made out in place of the person who is asked. */
import type { FactCopies } from '@cardea/service';
import type { DeputyPeriod, IdentityFacts } from './identity-facts.ts';
import { userValidity } from './user-validity.ts';

/**
 * Undefined where the person has none now, and where that one could not decide or is excluded: the person is asked
 * then. The deputy's own deputy is not looked at.
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
