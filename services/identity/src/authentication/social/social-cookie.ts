/**
 * What a sign-in by a provider has to match when the browser comes back, in an encrypted cookie of that browser: so
 * no other browser can finish it. Each sign-in has a cookie of its own, named by its state, so several tabs do not
 * disturb each other.
 */
import { type DerivedKeys, sameBytes, sha256 } from '@cardea/crypto';
import { openCookie, sealCookie } from '../../adapters/sealed-cookie.ts';
import type { Checks } from '../../adapters/social-providers.ts';
import type { SocialProvider } from '../../workspaces/workspaces.module.ts';

export type PendingSocialSignIn = Checks & {
  readonly tenantId: string;
  readonly provider: SocialProvider;
  /** Where the browser ends; null: the callback itself answers. */
  readonly redirectUri: string | null;
  /** Whether the page that it ends at asked for the code that it exchanges for the session's tokens. */
  readonly exchange?: boolean;
  /** The page of the authorization server at which it was begun, and where it goes on. */
  readonly interaction?: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
};

/** What a browser sends, and what is needed to read it. */
type Sent = {
  readonly header: string | undefined;
  readonly keys: DerivedKeys;
  readonly now: Date;
};

const PREFIX = '__Host-social-';
const NAME_CHARACTERS = 8;
const FORM = /(__Host-social-[0-9a-f]{8})=([A-Za-z0-9_-]+)/g;
const AAD = ['social sign-in'];
export const SOCIAL_SIGN_IN_MS = 10 * 60_000;
/** Sign-ins of one browser at the same time; beyond either bound the oldest is given up. */
export const SOCIAL_COOKIES_MAX = 5;
/** Servers refuse requests whose headers exceed 8 to 16 KiB. */
const COOKIES_BYTES_MAX = 5 * 1024;

const nameOf = (state: string): string =>
  `${PREFIX}${sha256(state).toString('hex').slice(0, NAME_CHARACTERS)}`;

// Lax, as the browser comes back from the provider's pages.
const cookie = (name: string, value: string, seconds: number): string =>
  `${name}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`;

export const endedSocialCookie = (state: string): string => cookie(nameOf(state), '', 0);

/** The cookie of a sign-in that begins, and the removal of those for which the browser has no room. */
export function socialCookies(pending: PendingSocialSignIn, sent: Sent): string[] {
  const sealed = sealCookie(JSON.stringify(pending), AAD, sent.keys);
  const ended: string[] = [];
  let [count, bytes] = [1, sealed.length];
  for (const { name, value, expiresAt } of newestFirst(sent)) {
    count += 1;
    bytes += value.length;
    const hasRoom = count <= SOCIAL_COOKIES_MAX && bytes <= COOKIES_BYTES_MAX;
    if (expiresAt === undefined || !hasRoom) ended.push(cookie(name, '', 0));
  }
  return [cookie(nameOf(pending.state), sealed, SOCIAL_SIGN_IN_MS / 1_000), ...ended];
}

/** Undefined without one of this state, with one that was changed, and with one that is too old. */
export function pendingOfCookie(state: string, sent: Sent): PendingSocialSignIn | undefined {
  const name = nameOf(state);
  const found = cookiesOf(sent).find((each) => each.name === name && each.pending !== undefined);
  const pending = found?.pending;
  return pending !== undefined && sameBytes(sha256(pending.state), sha256(state))
    ? pending
    : undefined;
}

function cookiesOf({ header, keys, now }: Sent) {
  return [...(header ?? '').matchAll(FORM)].map(([, name = '', value = '']) => {
    const text = openCookie(value, AAD, keys);
    const read: PendingSocialSignIn | undefined = text === undefined ? text : JSON.parse(text);
    const pending = read !== undefined && now.getTime() < read.expiresAt ? read : undefined;
    return { name, value, pending, expiresAt: pending?.expiresAt };
  });
}

const newestFirst = (sent: Sent) =>
  cookiesOf(sent).toSorted((one, other) => (other.expiresAt ?? 0) - (one.expiresAt ?? 0));
