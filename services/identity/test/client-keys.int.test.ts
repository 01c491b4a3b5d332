import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import * as openid from 'openid-client';
import { describe, expect, it } from 'vitest';
import { application, clientOf, oauthOfFile, pkce, REDIRECT } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();

const PAIRS = {
  'P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'P-521': generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  secp256k1: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
  Ed25519: generateKeyPairSync('ed25519'),
  X25519: generateKeyPairSync('x25519'),
  'RSA 2048': generateKeyPairSync('rsa', { modulusLength: 2_048 }),
  'RSA 1024': generateKeyPairSync('rsa', { modulusLength: 1_024 }),
};
type Kind = keyof typeof PAIRS;
const KINDS = Object.keys(PAIRS) as Kind[];
/** The signature algorithms of RFC 7518 and 9864, by the kinds of keys that can use them. */
const SIGNED_BY: { readonly [kind in Kind]: readonly string[] } = {
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
  secp256k1: ['ES256K'],
  Ed25519: ['EdDSA', 'Ed25519'],
  X25519: [],
  'RSA 2048': ['RS256', 'PS256'],
  'RSA 1024': ['RS256', 'PS256'],
};
const ALGORITHMS = [undefined, 'HS256', 'RS512', ...new Set(Object.values(SIGNED_BY).flat())];
const USES = [undefined, 'sig', 'enc'];

const assertion = (key: KeyObject, alg: string, clientId: string) =>
  new SignJWT({})
    .setProtectedHeader({ alg })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(fixture.issuer)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(key);

async function call(path: string, client_assertion: string, form: object) {
  const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const body = new URLSearchParams({ ...form, client_assertion, client_assertion_type });
  const answer = await fetch(`${fixture.baseUrl}/oauth2/${path}`, { method: 'POST', body });
  const text = await answer.text();
  return [path, answer.status, text === '' ? undefined : JSON.parse(text).error];
}

/** Each endpoint's response to a client that it has recognised. */
async function answersOf(key: KeyObject, alg: string, clientId: string) {
  const signed = () => assertion(key, alg, clientId);
  const asked = {
    client_id: clientId,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid',
  };
  const { verifier: code_verifier, challenge: code_challenge } = pkce();
  const challenge = { code_challenge, code_challenge_method: 'S256' };
  const exchange = { grant_type: 'authorization_code', code: 'none', redirect_uri: REDIRECT };
  return [
    await call('token', await signed(), { ...exchange, code_verifier }),
    await call('par', await signed(), { ...asked, ...challenge }),
    await call('introspect', await signed(), { token: 'none' }),
    await call('revoke', await signed(), { token: 'none' }),
  ];
}

const RECOGNISED = [
  ['token', 400, 'invalid_grant'],
  ['par', 201, undefined],
  ['introspect', 200, undefined],
  ['revoke', 200, undefined],
];

/** Node exports keys of secp256k1 too, which jose does not support. */
const exportedJwk = (key: KeyObject): { [member: string]: string | undefined } => ({
  ...(key.export({ format: 'jwk' }) as { [member: string]: string }),
});

const register = (jwk: object) =>
  fixture.as(admin).post('/api/v1/admin/applications', {
    ...{ name: 'Shop', type: 'web', redirect_uris: [REDIRECT], jwks: [jwk] },
  });

describe('a key with which a client authenticates', () => {
  it.each(KINDS)(
    'oauth 34 of the kind %s, under each algorithm and use, is refused or it works everywhere',
    async (kind) => {
      const { publicKey, privateKey } = PAIRS[kind];
      const { kty, crv, x, y, n, e } = exportedJwk(publicKey);
      let works = 0;
      for (const alg of ALGORITHMS) {
        for (const use of USES) {
          const made = await register({ kty, crv, x, y, n, e, alg, use });
          if (made.status === 400) continue;
          expect(made.status).toBe(201);
          const isRsa = alg !== undefined && kty === 'RSA';
          for (const by of isRsa ? [alg] : SIGNED_BY[kind]) {
            const answers = await answersOf(privateKey, by, made.body.client_id);
            expect(answers, `${alg} ${use} ${by}`).toEqual(RECOGNISED);
            works += 1;
          }
        }
      }
      // The variants are with and without `use: sig`, without an algorithm, and with each algorithm name of the key.
      const expected: { readonly [each in Kind]?: number } = {
        ...{ 'P-256': 4, Ed25519: 12, 'RSA 2048': 8 },
      };
      expect(works).toBe(expected[kind] ?? 0);
    },
  );

  it.each(['P-256', 'Ed25519', 'RSA 2048'] as const)(
    'oauth 34 of the kind %s is refused with a member that is missing, changed or spelt otherwise',
    async (kind) => {
      const jwk = exportedJwk(PAIRS[kind].publicKey);
      for (const member of ['x', 'y', 'n'].filter((each) => each in jwk)) {
        const text = jwk[member] ?? '';
        for (const wrong of [undefined, '', `${text}=`, `${text} `, text.slice(0, -2), 'AA', '!']) {
          const answer = await register({ ...jwk, [member]: wrong });
          expect([member, wrong, answer.status, answer.code]).toEqual([
            ...[member, wrong, 400, 'invalid_request'],
          ]);
        }
      }
      for (const kty of ['EC', 'OKP', 'RSA', 'oct'].filter((each) => each !== jwk['kty'])) {
        expect((await register({ ...jwk, kty })).status).toBe(400);
      }
    },
  );

  it('oauth 34 is named with the rule that it breaks, at registration and at a change', async () => {
    const good = exportedJwk(PAIRS.Ed25519.publicKey);
    const short = exportedJwk(PAIRS['RSA 1024'].publicKey);
    const details = [{ field: 'jwks.0', rule: 'rsa_size' }];
    expect((await register(short)).body.error).toMatchObject({ details });
    const { id } = (await register(good)).body;
    const path = `/api/v1/admin/applications/${id}`;
    const changed = await fixture.as(admin).patch(path, { jwks: [good, short] });
    expect(changed.status).toBe(400);
    expect(changed.body.error.details).toEqual([{ field: 'jwks.1', rule: 'rsa_size' }]);
  });

  it('oauth 34 of Ed25519 is used by openid-client, which names the algorithm so', async () => {
    const algorithm = { name: 'Ed25519' };
    const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    if (!('privateKey' in pair)) throw new Error('no pair of keys');
    const { kty, crv, x } = await crypto.subtle.exportKey('jwk', pair.publicKey);
    const { client_id } = await application(fixture, admin, {
      ...{ type: 'm2m', redirect_uris: [], scopes: ['openid'] },
      jwks: [{ kty, crv, x, alg: 'EdDSA' }],
    });
    const config = await clientOf(fixture, client_id, openid.PrivateKeyJwt(pair.privateKey));
    const { access_token } = await openid.clientCredentialsGrant(config);
    expect((await openid.tokenIntrospection(config, access_token)).active).toBe(true);
  });
});
