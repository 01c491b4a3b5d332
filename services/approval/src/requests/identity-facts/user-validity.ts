/**
 * Determines whether the tenant vouches for a user, from the row or, if the value must be current, by asking identity.
 */
import type { FactCopies } from '@cardea/service';
import type { IdentityFacts } from './identity-facts.ts';
import { isActive } from './identity-facts.ts';

type Of = { readonly tenantId: string; readonly userId: string };
type Standing = { readonly isActive: boolean; readonly isVouched: boolean };

/** An unknown user counts as active, because a token proves that they exist, but never as vouched for. */
export async function userValidity(
  {
    identityFacts,
    factCopies,
  }: { readonly identityFacts: IdentityFacts; readonly factCopies: Pick<FactCopies, 'user'> },
  of: Of,
  vouchRequired: boolean,
): Promise<Standing> {
  const row = () => identityFacts.user(of.tenantId, of.userId);
  const user = await (vouchRequired ? factCopies.user(of, row) : row());
  return { isActive: isActive(user), isVouched: user?.vouched === true };
}
