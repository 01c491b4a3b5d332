/**
 * The external person according to the provider. An address counts only if the provider states that it is theirs. It
 * leads to an existing account only if the provider has authority over the address.
 */
import { cleaned, storedId } from '@cardea/runtime';
import {
  avatarUrl,
  displayName,
  type ExternalAccount,
  emailAddress,
  type ToAscii,
} from '../../accounts/accounts.module.ts';
import type { ProviderResponse } from '../../adapters/social-providers.ts';
import type { SocialClient, SocialProvider } from '../../workspaces/workspaces.module.ts';

/**
 * `owner`: the provider issued the address, or the owner of its domain vouches for it. `seen`: the provider saw a proof
 * once. Since then the address may have passed to another person without the provider's knowledge.
 */
export type Vouched = 'owner' | 'seen';

export type ExternalPerson = {
  readonly account: ExternalAccount;
  /** Null if there is no address that the provider vouches for. */
  readonly email: string | null;
  readonly vouched: Vouched;
  readonly displayName: string | null;
  readonly avatarUrl: string | null;
};

type Claims = { readonly [name: string]: unknown };
type Sources = { readonly client: SocialClient; readonly toAscii: ToAscii };

const SUBJECT_CHARACTERS_MAX = 255;

/** Returns undefined for a person who may not sign in here. */
export function externalPerson(
  provider: SocialProvider,
  told: Exclude<ProviderResponse, { fault: unknown }>,
  sources: Sources,
): ExternalPerson | undefined {
  if (provider === 'github') {
    return told.told === 'github' ? ofGitHub(told, sources) : undefined;
  }
  if (told.told !== 'claims') return undefined;
  const { claims } = told;
  if (provider === 'google') return ofGoogle(claims, sources);
  // The operator of a directory can enter any address, so `xms_edov` is required.
  const { tid, xms_edov: isOwnDomain } = claims;
  const { tenants = [] } = sources.client;
  const isKnown = typeof tid === 'string' && tenants.includes(storedId(tid));
  const isTheirs = isOwnDomain === true || isOwnDomain === 1 || isOwnDomain === '1';
  return isKnown ? person(provider, { ...claims, isTheirs }, sources) : undefined;
}

/** Google issues these addresses itself. */
const GOOGLE_MAIL = ['gmail.com', 'googlemail.com'];

/**
 * Google has authority over its own mail and over the domains of organizations that it hosts (`hd`). Other people
 * proved another company's address once, when they created their Google account.
 */
function ofGoogle(claims: Claims, sources: Sources): ExternalPerson | undefined {
  // Google's documentation shows a string here.
  const isTheirs = claims['email_verified'] === true || claims['email_verified'] === 'true';
  const found = person('google', { ...claims, isTheirs }, sources);
  const domain = found?.email?.split('@')[1];
  if (found === undefined || domain === undefined) return found;
  const hosted = claims['hd'];
  const isHosted = typeof hosted === 'string' && sources.toAscii(hosted) === domain;
  return { ...found, vouched: isHosted || GOOGLE_MAIL.includes(domain) ? 'owner' : 'seen' };
}

function ofGitHub(
  { user, emails }: Extract<ProviderResponse, { told: 'github' }>,
  sources: Sources,
): ExternalPerson | undefined {
  const { id, login, name, avatar_url: picture } = user;
  if (!Number.isSafeInteger(id)) return undefined;
  const primary = emails.find((one) => one['primary'] === true && one['verified'] === true);
  const email = primary?.['email'];
  const claims = { sub: String(id), name: name ?? login, picture, email, isTheirs: true };
  return person('github', claims, sources);
}

function person(
  provider: SocialProvider,
  { sub, email, name, picture, isTheirs }: Claims,
  { toAscii }: Sources,
): ExternalPerson | undefined {
  if (typeof sub !== 'string' || sub === '' || sub.length > SUBJECT_CHARACTERS_MAX)
    return undefined;
  const address = typeof email === 'string' ? emailAddress(email, toAscii) : undefined;
  return {
    account: { provider, subject: sub },
    email: isTheirs === true ? (address ?? null) : null,
    vouched: 'owner',
    displayName: typeof name === 'string' ? (displayName(cleaned(name)) ?? null) : null,
    avatarUrl: typeof picture === 'string' ? (avatarUrl(picture) ?? null) : null,
  };
}
