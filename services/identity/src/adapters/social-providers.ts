/**
 * Google, Microsoft and GitHub as identity providers (`openid-client`): the URL that a browser is redirected to, and
 * the claims about the person who returns with a code. Everything that the protocols allow to be verified is verified:
 * state, PKCE, issuer, audience, nonce, and the signature of the ID token.
 */
import { type Clock, loadingCache } from '@cardea/runtime';
import * as openid from 'openid-client';

export type Provider = {
  readonly provider: 'google' | 'github' | 'microsoft';
  readonly clientId: string;
  readonly clientSecret: string;
  /** A server that replaces the provider's own, in development only. */
  readonly endpoint: string | null;
  /** Only Microsoft has directories. */
  readonly directories: readonly string[];
};

/** Values that the returning browser must match. */
export type Checks = {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
};

type Claims = { readonly [name: string]: unknown };
export type ProviderResponse =
  | { readonly told: 'claims'; readonly claims: Claims }
  | { readonly told: 'github'; readonly user: Claims; readonly emails: readonly Claims[] }
  /** The provider refused, or its response failed verification. */
  | { readonly fault: 'failed' }
  | { readonly fault: 'unavailable' };

export type SocialProviders = {
  /** Returns undefined while the provider cannot be reached. */
  readonly authorizationUrl: (
    of: Provider,
    checks: Checks,
    redirectUri: string,
  ) => Promise<URL | undefined>;
  /** Redeems the code. `returned` is the callback URL that the browser opened. */
  readonly ask: (of: Provider, checks: Checks, returned: URL) => Promise<ProviderResponse>;
};

const TIMEOUT_S = 5;
/** How long a provider's metadata and keys are cached. */
const CONFIGURATION_MS = 3600_000;
const CONFIGURATIONS_MAX = 1_000;
const EMAILS_MAX = 100;

/**
 * The providers' published addresses. Tests replay them from the documents in `test/published`, which name source and
 * date. Google and Microsoft publish metadata. GitHub has none for sign-ins; since April 2026 it sends an issuer (RFC
 * 9207), which differs from its site.
 */
const GOOGLE = 'https://accounts.google.com';
const MICROSOFT = 'https://login.microsoftonline.com';
const GITHUB = { site: 'https://github.com', api: 'https://api.github.com' };
const GITHUB_OAUTH = '/login/oauth';
/** The directory of all personal Microsoft accounts. */
const PRIVATE_ACCOUNTS = '9188040d-6c67-4b5b-b112-36a304b66dad';

const overNetwork: openid.CustomFetch = (url, options) => fetch(url, options as RequestInit);

/** `send` makes the requests to the providers. */
export function socialProviders(
  clock: Pick<Clock, 'monotonicMs'>,
  send: openid.CustomFetch = overNetwork,
): SocialProviders {
  const configurations = loadingCache<string, openid.Configuration>(clock, {
    entriesMax: CONFIGURATIONS_MAX,
    ttlMs: CONFIGURATION_MS,
  });
  const configured = (of: Provider): Promise<openid.Configuration> =>
    configurations.get(JSON.stringify(of), () => configuration(of, send));
  return {
    authorizationUrl: async (of, { state, nonce, verifier }, redirectUri) => {
      try {
        const config = await configured(of);
        return openid.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          state,
          code_challenge: await openid.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(of.provider === 'github'
            ? { scope: 'read:user user:email' }
            : { scope: 'openid email profile', nonce }),
        });
      } catch (error) {
        if (faultOf(error) === undefined) throw error;
        return undefined;
      }
    },
    ask: async (of, checks, returned) => {
      try {
        const config = await configured(of);
        return of.provider === 'github'
          ? await askGitHub(config, { of, checks, returned })
          : await askOpenId(config, { checks, returned });
      } catch (error) {
        const fault = faultOf(error);
        if (fault === undefined) throw error;
        return { fault };
      }
    },
  };
}

async function configuration(
  of: Provider,
  send: openid.CustomFetch,
): Promise<openid.Configuration> {
  const { clientId, clientSecret, endpoint } = of;
  const own = endpoint === null ? [] : [openid.allowInsecureRequests];
  if (of.provider === 'github') {
    const issuer = `${endpoint ?? GITHUB.site}${GITHUB_OAUTH}`;
    // The library compares `iss` if it is present. It is not required, because older GitHub servers send none.
    const server = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/access_token`,
    };
    const config = new openid.Configuration(server, clientId, clientSecret);
    for (const allow of own) allow(config);
    config.timeout = TIMEOUT_S;
    config[openid.customFetch] = send;
    return config;
  }
  const issuer = new URL(endpoint ?? issuerOf(of));
  return openid.discovery(issuer, clientId, clientSecret, undefined, {
    timeout: TIMEOUT_S,
    [openid.customFetch]: send,
    // Stricter than the library's default, which does not check the signature of an ID token received over TLS.
    execute: [openid.enableNonRepudiationChecks, ...own],
  });
}

/** With one configured directory the browser is sent to that one; with several, to the person's own. */
function issuerOf({ provider, directories }: Provider): string {
  if (provider === 'google') return GOOGLE;
  const [first = '', ...others] = directories;
  if (others.length === 0) return `${MICROSOFT}/${first}/v2.0`;
  const all = directories.includes(PRIVATE_ACCOUNTS) ? 'common' : 'organizations';
  return `${MICROSOFT}/${all}/v2.0`;
}

type Asking = { readonly checks: Checks; readonly returned: URL };

async function askOpenId(config: openid.Configuration, { checks, returned }: Asking) {
  const tokens = await openid.authorizationCodeGrant(config, returned, {
    expectedState: checks.state,
    expectedNonce: checks.nonce,
    pkceCodeVerifier: checks.verifier,
    // Stricter than the library's default: the person's id is in the ID token and nowhere else.
    idTokenExpected: true,
  });
  return { told: 'claims', claims: { ...tokens.claims() } } as const;
}

async function askGitHub(
  config: openid.Configuration,
  { of, checks, returned }: Asking & { readonly of: Provider },
): Promise<ProviderResponse> {
  const { access_token: token } = await openid.authorizationCodeGrant(config, returned, {
    expectedState: checks.state,
    pkceCodeVerifier: checks.verifier,
  });
  const api = of.endpoint ?? GITHUB.api;
  const read = async (path: string): Promise<unknown> => {
    const url = new URL(`${api}${path}`);
    const headers = new Headers({ accept: 'application/vnd.github+json' });
    const answer = await openid.fetchProtectedResource(config, token, url, 'GET', null, headers);
    return answer.ok ? answer.json() : undefined;
  };
  const [user, emails] = await Promise.all([
    read('/user'),
    read(`/user/emails?per_page=${EMAILS_MAX}`),
  ]);
  if (!isClaims(user) || !Array.isArray(emails)) return { fault: 'failed' };
  return { told: 'github', user, emails: emails.filter(isClaims).slice(0, EMAILS_MAX) };
}

const isClaims = (value: unknown): value is Claims =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const UNAVAILABLE = new Set(['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM']);

/** Undefined for a bug of ours. The providers' error descriptions are neither logged nor shown. */
function faultOf(error: unknown): 'failed' | 'unavailable' | undefined {
  if (error instanceof openid.ClientError) {
    return UNAVAILABLE.has(error.code ?? '') ? 'unavailable' : 'failed';
  }
  if (
    error instanceof openid.ResponseBodyError ||
    error instanceof openid.AuthorizationResponseError ||
    error instanceof openid.WWWAuthenticateChallengeError ||
    error instanceof SyntaxError
  ) {
    return 'failed';
  }
  return isUnreached(error) ? 'unavailable' : undefined;
}

/** Whether `fetch` could not connect. */
const isUnreached = (error: unknown): boolean =>
  error instanceof Error &&
  (error.message === 'fetch failed' ||
    error.name === 'TimeoutError' ||
    error.name === 'AbortError');
