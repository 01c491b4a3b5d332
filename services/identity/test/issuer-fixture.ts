/** Google and Microsoft as a server of their own, which signs everybody in at once as whom a test names. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export type Claims = { readonly sub: string; readonly [name: string]: unknown };

export type IssuerFixture = {
  readonly url: string;
  /** Who is signed in from now on. */
  person: Claims;
  /** What stands in the place of the ID tokens that it would issue. */
  forged: ((claims: Claims) => string) | undefined;
  /** Signs as the issuer does. */
  signed(claims: object, by?: KeyObject): string;
  stop(): Promise<void>;
};

export const CLIENT = { id: 'cardea', secret: 'canary-client-secret-of-forty-characters' };
export const OTHER_CLIENT = { id: 'another', secret: 'the-secret-of-another-application-here' };
const KID = 'issuer-key';

export async function issuerFixture(redirectUris: readonly string[]): Promise<IssuerFixture> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = { ...privateKey.export({ format: 'jwk' }), kid: KID, alg: 'ES256', use: 'sig' };
  const provider = new Provider(url, {
    clients: [CLIENT, OTHER_CLIENT].map(({ id, secret }) => ({
      client_id: id,
      client_secret: secret,
      redirect_uris: [...redirectUris],
      token_endpoint_auth_method: 'client_secret_post' as const,
      id_token_signed_response_alg: 'ES256' as const,
    })),
    jwks: { keys: [key] },
    // As the real ones do, the ID token says everything.
    conformIdTokenClaims: false,
    claims: {
      openid: ['sub', 'tid', 'xms_edov'],
      email: ['email', 'email_verified'],
      profile: ['name', 'picture'],
    },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['cookies of the tests'] },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: async () => ({ ...fixture.person, sub: accountId }),
    }),
  });
  const signed: IssuerFixture['signed'] = (claims, by = privateKey) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${part({ alg: 'ES256', kid: KID })}.${part(claims)}`;
    const signature = sign('sha256', Buffer.from(text), { key: by, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  };
  const handle = provider.callback();
  server.on('request', async (request, response) => {
    if (request.url?.startsWith('/interaction/')) {
      const { sub: accountId } = fixture.person;
      const { params } = await provider.interactionDetails(request, response);
      const grant = new provider.Grant({ accountId, clientId: String(params['client_id']) });
      grant.addOIDCScope('openid email profile');
      const consent = { grantId: await grant.save() };
      await provider.interactionFinished(request, response, { login: { accountId }, consent });
      return;
    }
    if (request.url === '/token' && fixture.forged !== undefined) forge(response, fixture.forged);
    handle(request, response);
  });
  const fixture: IssuerFixture = {
    url,
    person: { sub: 'nobody' },
    forged: undefined,
    signed,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fixture;
}

/** Puts another ID token into the answer that is under way. */
function forge(response: ServerResponse, forged: (claims: Claims) => string): void {
  const end = response.end.bind(response) as (text: string) => ServerResponse;
  response.end = ((text: string) => {
    const body = JSON.parse(String(text));
    const claims = JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
    const other = JSON.stringify({ ...body, id_token: forged(claims) });
    response.setHeader('Content-Length', Buffer.byteLength(other));
    return end(other);
  }) as typeof response.end;
}
