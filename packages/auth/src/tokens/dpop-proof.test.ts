import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { CacheUnavailable, fakeClock, inProcessCache } from '@cardea/runtime';
import { calculateJwkThumbprint, exportJWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { authenticator } from '../authenticator.ts';
import type { PossessionProof } from '../principal.ts';
import { DPOP_ALGORITHMS, dpopProofs } from './dpop-proof.ts';
import { signer } from './signer.ts';
import { generateSigningKey, publicJwk } from './signing-key.ts';
import { tokenVerifier } from './token-verifier.ts';

const ISSUER = 'https://id.example.com';
const PATH = '/api/v1/auth/me';
const HTU = `${ISSUER}${PATH}`;

const makers: { readonly [alg: string]: () => { privateKey: KeyObject; publicKey: KeyObject } } = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
  Ed25519: () => generateKeyPairSync('ed25519'),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
};
async function keyFor(alg: string) {
  const { privateKey, publicKey } = makers[alg]?.() ?? generateKeyPairSync('ed25519');
  const jwk = await exportJWK(publicKey);
  return { alg, privateKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) };
}
type Key = Awaited<ReturnType<typeof keyFor>>;

const ath = (token: string) => createHash('sha256').update(token).digest('base64url');
const clock = fakeClock('2026-01-01T00:00:00Z');
const now = () => Math.floor(clock.now().getTime() / 1000);

async function proofOf(
  { alg, privateKey, jwk }: Key,
  claims: object,
  header: object = {},
): Promise<string> {
  const known = { jti: randomUUID(), htm: 'GET', htu: HTU, iat: now() };
  const head = { typ: 'dpop+jwt', alg, jwk, ...header } as JWTHeaderParameters;
  return new SignJWT({ ...known, ...claims }).setProtectedHeader(head).sign(privateKey);
}

const ours = generateSigningKey();
const sign = signer({ active: () => ours });
const accessToken = (cnf?: object) =>
  sign('at+jwt', {
    ...{ iss: ISSUER, sub: 'user-1', aud: `${ISSUER}/api`, iat: now(), exp: now() + 900 },
    ...{ jti: randomUUID(), tid: 't1', tenant_id: 't1', client_id: 'app', scope: 'openid' },
    ...(cnf === undefined ? {} : { cnf }),
  });

/** A replica, which shares only the cache with others. */
function replica(cache: Parameters<typeof dpopProofs>[0]['cache']) {
  const revocations = {
    isRevoked: () => false,
    subscriptionEpoch: () => 0,
    look: async () => ({ revoked: [], values: undefined }),
  };
  const jwks = async () => ({ keys: [publicJwk(ours.privateKey)] });
  return authenticator({
    ...{ clock, revocations, introspect: async () => undefined },
    verifier: tokenVerifier({ jwks, issuer: ISSUER, clock, revocations }),
    dpop: dpopProofs({ issuer: ISSUER, clock, cache }),
    misses: {
      take: async () => ({ allowed: true, giveBack: async () => {}, keep: async () => {} }),
    },
  });
}
const shared = inProcessCache(clock);
const subject = replica(shared);
const shown = (proof: string, method = 'GET', path = PATH): PossessionProof => ({
  ...{ proof, method, path },
});
const ask = async (token: string, possession?: PossessionProof, at = subject) =>
  at.authenticate(token, '192.0.2.1', undefined, possession);

const INVALID_TOKEN = { kind: 'unproven', error: 'invalid_token' };
const INVALID_PROOF = { kind: 'unproven', error: 'invalid_dpop_proof' };
const USER = { kind: 'user', id: 'user-1' };

describe('an access token that is bound to a key [oauth 39]', () => {
  it.each(DPOP_ALGORITHMS)('is accepted with a proof by %s, once', async (alg) => {
    const key = await keyFor(alg);
    const token = accessToken({ jkt: key.thumbprint });
    const proof = shown(await proofOf(key, { ath: ath(token) }));
    expect(await ask(token, proof)).toMatchObject(USER);
    expect(await ask(token, proof)).toEqual(INVALID_PROOF);
    expect(await ask(token, proof, replica(shared))).toEqual(INVALID_PROOF);
    expect(await ask(token, shown(await proofOf(key, { ath: ath(token) })))).toMatchObject(USER);
  });

  it('is refused as Bearer, and another token is refused with a proof', async () => {
    const key = await keyFor('ES256');
    expect(await ask(accessToken({ jkt: key.thumbprint }))).toEqual(INVALID_TOKEN);
    expect(await ask(accessToken({ jkt: 7 }))).toEqual(INVALID_TOKEN);
    const token = accessToken();
    expect(await ask(token)).toMatchObject(USER);
    const proof = shown(await proofOf(key, { ath: ath(token) }));
    expect(await ask(token, proof)).toEqual(INVALID_TOKEN);
    expect(await ask('svc_live_whatever', proof)).toEqual(INVALID_TOKEN);
    expect(await ask('nonsense', proof)).toEqual(INVALID_TOKEN);
  });

  it('is refused with a proof of another request, time, token, key or form', async () => {
    const key = await keyFor('ES256');
    const other = await keyFor('ES256');
    const rsa = await keyFor('RS256');
    const token = accessToken({ jkt: key.thumbprint });
    const of = { ath: ath(token) };
    const { d: _, ...secret } = { ...(await exportJWK(key.privateKey)) };
    const wrong: readonly (readonly [string, string])[] = [
      ['method', await proofOf(key, { ...of, htm: 'POST' })],
      ['method in lower case', await proofOf(key, { ...of, htm: 'get' })],
      ['path', await proofOf(key, { ...of, htu: `${HTU}/sessions` })],
      ['origin', await proofOf(key, { ...of, htu: `https://evil.example${PATH}` })],
      ['scheme', await proofOf(key, { ...of, htu: `http://id.example.com${PATH}` })],
      ['no address', await proofOf(key, { ...of, htu: 7 })],
      ['old', await proofOf(key, { ...of, iat: now() - 61 })],
      ['of the future', await proofOf(key, { ...of, iat: now() + 61 })],
      ['iat as text', await proofOf(key, { ...of, iat: String(now()) as unknown as number })],
      ['other token', await proofOf(key, { ath: ath('other') })],
      ['no ath', await proofOf(key, {})],
      ['no jti', await proofOf(key, { ...of, jti: '' })],
      ['long jti', await proofOf(key, { ...of, jti: 'x'.repeat(513) })],
      ['other key', await proofOf(other, of)],
      ['key of another kind', await proofOf(rsa, of)],
      ['stolen public key', await proofOf({ ...other, jwk: key.jwk }, of)],
      ['typ', await proofOf(key, of, { typ: 'jwt' })],
      ['private key', await proofOf(key, of, { jwk: { ...secret, ...key.jwk, d: 'AAAA' } })],
      ['too long', await proofOf(key, { ...of, more: 'x'.repeat(4096) })],
      ['two proofs', `${await proofOf(key, of)}, ${await proofOf(key, of)}`],
      ['none', ''],
      ['nonsense', 'a.b.c'],
      ['four parts', `${await proofOf(key, of)}.x`],
    ];
    for (const [what, proof] of wrong) {
      expect([what, await ask(token, shown(proof))]).toEqual([what, INVALID_PROOF]);
    }
    expect(await ask(token, shown(await proofOf(key, of), 'POST'))).toEqual(INVALID_PROOF);
  });

  it('takes the address without query and fragment, normalized, and clocks 60 s apart', async () => {
    const key = await keyFor('ES256');
    const token = accessToken({ jkt: key.thumbprint });
    const of = { ath: ath(token) };
    for (const htu of [
      `${HTU}?a=1`,
      `${HTU}#b`,
      HTU.replace('https', 'HTTPS'),
      HTU.replace('.com', '.com:443'),
    ]) {
      expect(await ask(token, shown(await proofOf(key, { ...of, htu })))).toMatchObject(USER);
    }
    for (const iat of [now() - 60, now() + 60]) {
      expect(await ask(token, shown(await proofOf(key, { ...of, iat })))).toMatchObject(USER);
    }
  });

  it('cannot be used while the cache is away, and Bearer tokens go on without asking it', async () => {
    const key = await keyFor('ES256');
    const away = replica({
      setIfAbsent: async () => {
        throw new CacheUnavailable();
      },
    });
    const token = accessToken({ jkt: key.thumbprint });
    const proof = shown(await proofOf(key, { ath: ath(token) }));
    await expect(ask(token, proof, away)).rejects.toBeInstanceOf(CacheUnavailable);
    expect(await ask(accessToken(), undefined, away)).toMatchObject(USER);
  });
});

/**
 * The examples of https://www.rfc-editor.org/rfc/rfc9449#section-4.1 and #section-7.1, as published in September 2023.
 */
const RFC_9449 = {
  proof:
    'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6Ik' +
    'VDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCR' +
    'nMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JE' +
    'QSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIj' +
    'oiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0Z' +
    'WRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNF' +
    'c05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71E' +
    'OptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA',
  thumbprint: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I',
  tokenDigest: 'fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo',
};

it('takes the example of RFC 9449, section 7.1 [oauth 39]', async () => {
  const then = fakeClock(new Date(1_562_262_618_000).toISOString());
  const proofs = dpopProofs({
    issuer: 'https://resource.example.org',
    clock: then,
    cache: inProcessCache(then),
  });
  const { proof, ...of } = RFC_9449;
  const request = { ...of, method: 'GET', path: '/protectedresource' };
  expect(await proofs.isProven(proof, { ...request, path: '/other' })).toBe(false);
  expect(await proofs.isProven(proof, request)).toBe(true);
  expect(await proofs.isProven(proof, request)).toBe(false);
});
