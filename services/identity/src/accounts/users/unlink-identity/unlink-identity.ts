/** A user unlinks an external account, if another method to sign in remains. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { ExistingUser, User, UserEvent } from '../user.ts';

export function unlinkIdentity(
  { provider: name, now }: { readonly provider: string; readonly now: Date },
  user: User,
): Decision<UserEvent, 'not_found' | 'last_credential'> {
  if (user.status !== 'active') return refuse('not_found');
  const linked = user.identities.find((identity) => identity.provider === name);
  if (linked === undefined) return refuse('not_found');
  if (isLastCredential(user)) return refuse('last_credential');
  const others = user.identities.filter((identity) => identity.provider !== name);
  const { provider, hash } = linked;
  const data = { id: user.id, provider, hash, providers: others.map(providerOf) };
  return accept({ type: 'IdentityUnlinked', data: { ...data, at: now.toISOString() } });
}

const providerOf = ({ provider }: ExistingUser['identities'][number]) => provider;

/** Mailed links and codes do not count: a tenant may not allow them. */
const isLastCredential = ({ passwordHash, secondFactors, identities }: ExistingUser): boolean =>
  passwordHash === null &&
  identities.length === 1 &&
  !secondFactors.factors.some(({ type }) => type === 'passkey');
