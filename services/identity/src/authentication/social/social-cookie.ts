/**
 * What a sign-in by a provider has to match when the browser comes back, in an encrypted cookie of that
 * browser: so no other browser can finish it.
 */
import type { DerivedKeys } from '@cardea/crypto';
import { openCookie, sealCookie } from '../../adapters/sealed-cookie.ts';
import type { Checks } from '../../adapters/social-providers.ts';
import type { SocialProvider } from '../../workspaces/workspaces.module.ts';

export type PendingSocialSignIn = Checks & {
  readonly tenantId: string;
  readonly provider: SocialProvider;
  /** Where the browser ends; null: the callback itself answers. */
  readonly redirectUri: string | null;
  /** The page of the authorization server at which it was begun, and where it goes on. */
  readonly interaction?: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
};

const NAME = '__Host-social';
export const SOCIAL_SIGN_IN_MS = 10 * 60_000;
const FORM = /(?:^|;\s*)__Host-social=([A-Za-z0-9_-]+)/;
const AAD = ['social sign-in'];

// Lax, as the browser comes back from the provider's pages.
const cookie = (value: string, seconds: number): string =>
  `${NAME}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`;

export const NO_SOCIAL_COOKIE = cookie('', 0);

export const socialCookie = (pending: PendingSocialSignIn, keys: DerivedKeys): string =>
  cookie(sealCookie(JSON.stringify(pending), AAD, keys), SOCIAL_SIGN_IN_MS / 1_000);

/** Undefined without one, with one that was changed, and with one that is too old. */
export function pendingOfCookie(
  header: string | undefined,
  { keys, now }: { readonly keys: DerivedKeys; readonly now: Date },
): PendingSocialSignIn | undefined {
  const value = FORM.exec(header ?? '')?.[1];
  const text = value === undefined ? undefined : openCookie(value, AAD, keys);
  if (text === undefined) return undefined;
  const pending: PendingSocialSignIn = JSON.parse(text);
  return now.getTime() < pending.expiresAt ? pending : undefined;
}
