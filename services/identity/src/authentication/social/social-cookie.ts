/** The state that a sign-in by a provider compares when the browser comes back (`http/flow-cookies.ts`). */
import type { Checks } from '../../adapters/social-providers.ts';
import { FLOW_COOKIES_MAX, FLOW_MS, flowCookies, type Sent } from '../../http/flow-cookies.ts';
import type { SocialProvider } from '../../workspaces/workspaces.module.ts';

export type PendingSocialSignIn = Checks & {
  readonly tenantId: string;
  readonly provider: SocialProvider;
  /** The page at which the browser ends. Null if the callback itself answers. */
  readonly redirectUri: string | null;
  /** Whether that page requested a code, which it exchanges for the session's tokens. */
  readonly exchange?: boolean;
  /** The interaction of the authorization server in which the sign-in began and continues. */
  readonly interaction?: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
};

export const SOCIAL_SIGN_IN_MS = FLOW_MS;
export const SOCIAL_COOKIES_MAX = FLOW_COOKIES_MAX;

const cookies = flowCookies<PendingSocialSignIn>({
  prefix: '__Host-social-',
  isSecure: true,
  aad: ['social sign-in'],
});

export const endedSocialCookie = cookies.ended;
export const socialCookies = cookies.begun;
export const pendingOfCookie = (state: string, sent: Sent) => cookies.pending(state, sent);
