/** A client's key, proofs by it (RFC 9449), and the calls that tests make with them. */
import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { Account } from './identity-fixture.ts';
import {
  authorizeUrl,
  browser,
  type OAuthFixture,
  type OAuthParty,
  pkce,
  REDIRECT,
  signIn,
  type TestClient,
  token,
} from './oauth-fixture.ts';

export type ProofKey = Awaited<ReturnType<typeof proofKey>>;

export async function proofKey(alg = 'ES256') {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  const jwk = await exportJWK(publicKey);
  return { alg, jwk, privateKey, thumbprint: await calculateJwkThumbprint(jwk) };
}

/** A proof for the token endpoint, unless the claims name another URL. */
export const proofBy = (
  { alg, jwk, privateKey }: ProofKey,
  { issuer }: { readonly issuer: string },
  claims: object = {},
): Promise<string> =>
  new SignJWT({
    ...{ jti: randomUUID(), htm: 'POST', htu: `${issuer}/oauth2/token` },
    iat: Math.floor(Date.now() / 1000),
    ...claims,
  })
    .setProtectedHeader({ typ: 'dpop+jwt', alg, jwk })
    .sign(privateKey);

export const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url');

/** The form that redeems a code of the account at the client. */
export async function codeFor(
  fixture: OAuthParty,
  { client, account }: { readonly client: TestClient; readonly account: Pick<Account, 'email'> },
  more: { [name: string]: string } = {},
) {
  const { verifier, challenge } = pkce();
  const url = authorizeUrl(client, { code_challenge: challenge, ...more });
  const back = await signIn(browser(fixture), url, { account });
  const { client_id, client_secret } = client;
  return {
    ...{ grant_type: 'authorization_code', client_id, redirect_uri: REDIRECT },
    ...{ code: back.searchParams.get('code') ?? '', code_verifier: verifier },
    ...(client_secret === undefined ? {} : { client_secret }),
  };
}

export const refreshedBy = async (
  fixture: OAuthFixture,
  client: TestClient,
  { refresh_token }: { readonly refresh_token: string },
  key: ProofKey | undefined,
) => {
  const { client_id, client_secret } = client;
  const secret = client_secret === undefined ? {} : { client_secret };
  const form = { grant_type: 'refresh_token', client_id, refresh_token, ...secret };
  return token(fixture, form, key === undefined ? {} : { dpop: await proofBy(key, fixture) });
};

/** A call with an access token: as Bearer, or with a proof by the key. */
export async function calling(
  fixture: OAuthFixture,
  { path, body }: { readonly path: string; readonly body?: object },
  access: string,
  key?: ProofKey,
) {
  const method = body === undefined ? 'GET' : 'POST';
  const claims = { htm: method, htu: `${fixture.issuer}${path}`, ath: hashOf(access) };
  const headers: { [name: string]: string } =
    key === undefined
      ? { authorization: `Bearer ${access}` }
      : { authorization: `DPoP ${access}`, dpop: await proofBy(key, fixture, claims) };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(fixture.baseUrl + path, { method, ...sent, headers });
  // biome-ignore lint/suspicious/noExplicitAny: as in the REST driver, tests reach into bodies.
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}
