/** A browser in which somebody has signed in, so that first-party applications get tokens without a page. */
import { createHash, randomBytes } from 'node:crypto';
import type { Pool } from 'undici';
import { type Account, send, signIn } from './browser.ts';

export type Person = Account & { readonly redirectUri: string };

export type ApplicationTokens = {
  readonly access_token: string;
  readonly id_token?: string;
  readonly refresh_token?: string;
};

export type SignedInBrowser = {
  /** Authorizes the application and exchanges its code. */
  readonly tokensOf: (clientId: string) => Promise<ApplicationTokens>;
};

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' } as const;

/** The person signs in at the first application that the browser authorizes. */
export async function signedInBrowser(
  pool: Pool,
  person: Person,
  firstClientId: string,
): Promise<SignedInBrowser> {
  const { issuer, redirectUri: redirect_uri } = person;
  const { cookie } = await signIn(pool, person, authorization(firstClientId, redirect_uri).to);
  return {
    tokensOf: async (client_id) => {
      const { code_verifier, to } = authorization(client_id, redirect_uri);
      const { location } = await send(pool, 'GET', to, { headers: { cookie } });
      const code = new URL(location, issuer).searchParams.get('code');
      if (code === null) throw new Error('nobody is signed in');
      const of = { grant_type: 'authorization_code', client_id, redirect_uri, code, code_verifier };
      const body = String(new URLSearchParams(of));
      const { status, text } = await send(pool, 'POST', '/oauth2/token', { headers: FORM, body });
      if (status !== 200) throw new Error(`the exchange answered ${status}`);
      return JSON.parse(text);
    },
  };
}

function authorization(client_id: string, redirect_uri: string) {
  const code_verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');
  const query = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    scope: 'openid profile',
    code_challenge,
    code_challenge_method: 'S256',
  });
  return { code_verifier, to: `/oauth2/authorize?${query}` };
}
