/** Browsers that sign in by imitated providers. */
import type { Account, IdentityFixture } from './identity-fixture.ts';
import {
  type GitHubFixture,
  gitHubFixture,
  type IssuerFixture,
  issuerFixture,
} from './provider-server.ts';
import { CLIENT } from './published-providers.ts';

export type SocialProvider = 'google' | 'github' | 'microsoft';

export const PAGE = 'https://app.example/signed-in';
export const DIRECTORY = '11111111-1111-4111-8111-111111111111';
const HOPS_MAX = 10;

export type CallbackAnswer = {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  readonly body: any;
  readonly code: string | undefined;
  readonly headers: Headers;
  /** The parameters after the `#` of the page to which the browser is redirected. */
  readonly fragment: { readonly [name: string]: string };
};

/** A sign-in that has begun, in a separate browser. */
export type Begun = { readonly url: URL; readonly cookie: string };

export type SocialFixture = {
  readonly issuer: IssuerFixture;
  readonly github: GitHubFixture;
  /** Configures the providers of a tenant as its owner. */
  setUp(owner: Account, settings?: object): Promise<void>;
  authorize(
    provider: SocialProvider,
    query: { readonly [name: string]: string },
  ): Promise<Response>;
  begin(
    provider: SocialProvider,
    tenantId: string,
    redirectUri?: string,
    more?: { readonly [name: string]: string },
  ): Promise<Begun>;
  /** Lets the provider sign its person in. Returns the URL to which it redirects the browser. */
  atProvider(url: URL): Promise<URL>;
  callback(back: URL, cookie: string): Promise<CallbackAnswer>;
  /** Performs the whole sign-in. */
  signIn(
    provider: SocialProvider,
    tenantId: string,
    redirectUri?: string,
    more?: { readonly [name: string]: string },
  ): Promise<CallbackAnswer>;
  stop(): Promise<void>;
};

/** `publicUrl` is the fixture's own. */
export async function socialFixture(
  fixture: IdentityFixture,
  publicUrl = 'http://cardea.test',
): Promise<SocialFixture> {
  const issuer = await issuerFixture();
  const github = await gitHubFixture();

  const authorize: SocialFixture['authorize'] = (provider, query) => {
    const url = new URL(`${fixture.baseUrl}/api/v1/auth/social/${provider}/authorize`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return fetch(url, { redirect: 'manual' });
  };
  const social: SocialFixture = {
    issuer,
    github,
    setUp: async (owner, settings = {}) => {
      const client = { client_id: CLIENT.id, client_secret: CLIENT.secret };
      const all = {
        auth_methods: ['password', 'passkeys', 'google', 'github', 'microsoft'],
        social: {
          google: { ...client, endpoint: issuer.url },
          github: { ...client, endpoint: github.url },
          microsoft: {
            ...client,
            endpoint: `${issuer.url}/${DIRECTORY}/v2.0`,
            tenants: [DIRECTORY],
          },
        },
        allowed_redirect_uris: [PAGE],
        ...settings,
      };
      const path = `/api/v1/admin/tenants/${owner.tenantId}`;
      const answer = await fixture.as(owner).patch(path, { settings: all });
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    },
    authorize,
    begin: async (provider, tenantId, redirectUri, more = {}) => {
      const page = redirectUri === undefined ? {} : { redirect_uri: redirectUri };
      const answer = await authorize(provider, { tenant_id: tenantId, ...page, ...more });
      if (answer.status !== 302) throw new Error(`${answer.status} ${await answer.text()}`);
      const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
      return { url: new URL(answer.headers.get('location') ?? ''), cookie };
    },
    atProvider: async (url) => {
      const jar = new Map<string, string>();
      let at = url;
      for (let hop = 0; hop < HOPS_MAX; hop += 1) {
        if (at.href.startsWith(publicUrl)) return at;
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
        const answer = await fetch(at, { redirect: 'manual', headers: { cookie } });
        for (const set of answer.headers.getSetCookie()) {
          const [pair = ''] = set.split(';');
          const [name = '', ...value] = pair.split('=');
          jar.set(name, value.join('='));
        }
        const next = answer.headers.get('location');
        if (next === null) throw new Error(`${answer.status} ${await answer.text()}`);
        at = new URL(next, at);
      }
      throw new Error('the provider sends the browser in circles');
    },
    callback: async (back, cookie) => {
      const url = `${fixture.baseUrl}${back.pathname}${back.search}`;
      const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
      const text = await answer.text();
      const body = text === '' ? undefined : JSON.parse(text);
      const location = answer.headers.get('location');
      const after = location === null ? '' : (location.split('#')[1] ?? '');
      return {
        status: answer.status,
        body,
        code: body?.error?.code,
        headers: answer.headers,
        fragment: Object.fromEntries(new URLSearchParams(after)),
      };
    },
    signIn: async (provider, tenantId, redirectUri, more) => {
      const { url, cookie } = await social.begin(provider, tenantId, redirectUri, more);
      return social.callback(await social.atProvider(url), cookie);
    },
    stop: async () => {
      await issuer.stop();
      await github.stop();
    },
  };
  return social;
}

let count = 0;
export const newPerson = () => {
  count += 1;
  return { email: `bob.${count}@example.com`, id: 1_000 + count };
};
export type Person = ReturnType<typeof newPerson>;

/** Sets the provider's claims about its person, with the address confirmed. */
export function knownAt(
  { issuer, github }: Pick<SocialFixture, 'issuer' | 'github'>,
  provider: SocialProvider,
  { email, id }: Person,
): void {
  if (provider === 'github') {
    const emails = [
      { email: `other.${email}`, primary: false, verified: true },
      { email, primary: true, verified: true },
    ];
    github.person = { user: { id, login: 'bob', name: 'Bob', avatar_url: null }, emails };
    return;
  }
  const hd = email.split('@')[1];
  const vouched =
    provider === 'google' ? { email_verified: true, hd } : { tid: DIRECTORY, xms_edov: true };
  const picture = 'https://pictures.example/bob.png';
  issuer.person = { sub: `sub-${id}`, email, name: 'Bob', picture, ...vouched };
}
