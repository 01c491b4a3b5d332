import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
} from 'node:crypto';
import { fakeClock } from '@cardea/runtime';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { authenticator } from '../authenticator.ts';
import { type SignToken, signer } from './signer.ts';
import { generateSigningKey, publicJwk } from './signing-key.ts';
import { tokenVerifier } from './token-verifier.ts';
import { verifyToken } from './verify-token.ts';

const ISSUER = 'https://id.example';
const clock = fakeClock('2026-01-01T00:00:00Z');
const now = clock.now().getTime() / 1000;
const key = generateSigningKey();
const jwk = publicJwk(key.privateKey);
const stranger = generateSigningKey();
const strangerJwk = publicJwk(stranger.privateKey);
const genuine = signer({ active: () => key });
const removed = {
  isRevoked: () => false,
  subscriptionEpoch: () => 0,
  look: async () => ({ revoked: [], values: undefined }),
};
const verifier = tokenVerifier({
  jwks: async () => ({ keys: [jwk] }),
  issuer: ISSUER,
  clock,
  revocations: removed,
});
const subject = authenticator({
  verifier,
  introspect: async () => undefined,
  revocations: removed,
  misses: { take: async () => ({ allowed: true, giveBack: async () => {}, keep: async () => {} }) },
  dpop: { isProven: async () => false, read: async () => undefined },
  clock,
});

const claims = {
  iss: ISSUER,
  sub: 'user-1',
  aud: `${ISSUER}/api`,
  iat: now,
  exp: now + 900,
  jti: 'jti-1',
  tid: 'tenant-1',
  tenant_id: 'tenant-1',
  org_id: 'org-1',
  email: 'ann@example.com',
  roles: ['admin'],
  auth_time: now,
  amr: ['pwd'],
};
const capability = {
  ...claims,
  aud: `${ISSUER}/vault`,
  nbf: now,
  asid: 'as-1',
  act: { sub: 'agent-1' },
  cap: [{ s: 'billing', f: ['token'] }],
  cnf: { akid: 'akid-1' },
  ver: 1,
};
const header = { alg: 'EdDSA', typ: 'at+jwt', kid: key.kid };
const segment = (value: object | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
/** Signs any content with our own key, so that only the checks after the signature can refuse it. */
const signed = (head: object | string, body: object | string = claims, by = key): string => {
  const text = `${segment(head)}.${segment(body)}`;
  return `${text}.${sign(null, Buffer.from(text), by.privateKey).toString('base64url')}`;
};
const without = (name: keyof typeof claims): object => {
  const { [name]: _, ...rest } = claims;
  return rest;
};
const good = genuine('at+jwt', claims);
const [h = '', p = '', s = ''] = good.split('.');
const hs256 = (secret: string): string => {
  const text = `${segment({ ...header, alg: 'HS256' })}.${p}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};
const publicPem = createPublicKey(key.privateKey)
  .export({ format: 'pem', type: 'spki' })
  .toString();
const lastBitFlipped = `${s.slice(0, -1)}${String.fromCharCode(s.charCodeAt(s.length - 1) + 1)}`;

const FORGED: readonly (readonly [string, string])[] = [
  ['no token', ''],
  ['a word', 'null'],
  ['two segments', `${h}.${p}`],
  ['four segments', `${good}.${s}`],
  ['an empty signature', `${h}.${p}.`],
  ['alg none without signature', `${segment({ ...header, alg: 'none' })}.${p}.`],
  ['alg none in capitals', `${segment({ ...header, alg: 'NONE' })}.${p}.${s}`],
  ['alg none, signed', signed({ ...header, alg: 'none' })],
  ['HS256 with the public key as PEM', hs256(publicPem)],
  ['HS256 with the public key as x', hs256(jwk.x)],
  ['HS256 with an empty secret', hs256('')],
  ['alg Ed25519', signed({ ...header, alg: 'Ed25519' })],
  ['alg eddsa in small letters', signed({ ...header, alg: 'eddsa' })],
  ['alg missing', signed({ typ: 'at+jwt', kid: key.kid })],
  ['a stranger signs under our kid', signed(header, claims, stranger)],
  [
    'a stranger signs under a kid of its own',
    signed({ ...header, kid: stranger.kid }, claims, stranger),
  ],
  ['a stranger brings its key along', signed({ ...header, jwk: strangerJwk }, claims, stranger)],
  ['our key brought along', signed({ ...header, jwk })],
  ['an address of keys', signed({ ...header, jku: 'https://evil.example/jwks.json' })],
  ['a certificate', signed({ ...header, x5c: ['MIIB'] })],
  ['an address of a certificate', signed({ ...header, x5u: 'https://evil.example/x' })],
  ['crit', signed({ ...header, crit: ['exp'] })],
  ['b64 false', signed({ ...header, b64: false })],
  ['a kid that is a path', signed({ ...header, kid: '../../dev/null' })],
  ['a kid that is a query', signed({ ...header, kid: "x' OR 1=1 --" })],
  ['a kid that is no text', signed({ ...header, kid: [key.kid] })],
  ['kid __proto__', signed('{"alg":"EdDSA","typ":"at+jwt","kid":"__proto__"}')],
  ['no kid', signed({ alg: 'EdDSA', typ: 'at+jwt' })],
  ['typ JWT, as an id token', signed({ ...header, typ: 'JWT' })],
  ['typ in capitals', signed({ ...header, typ: 'AT+JWT' })],
  ['no typ', signed({ alg: 'EdDSA', kid: key.kid })],
  ['an id token', genuine('JWT', { ...claims, aud: 'client-1' })],
  ['an MFA token', genuine('mfa+jwt', { ...claims, aud: `${ISSUER}/mfa` })],
  ['a capability token', genuine('agent-cap+jwt', capability)],
  ['a capability token for the API', genuine('agent-cap+jwt', { ...capability, aud: claims.aud })],
  ['an access token for the vault', genuine('at+jwt', { ...claims, aud: `${ISSUER}/vault` })],
  [
    'an access token for another resource',
    genuine('at+jwt', { ...claims, aud: 'https://x.example' }),
  ],
  ['an audience that begins like ours', genuine('at+jwt', { ...claims, aud: `${ISSUER}/api2` })],
  ['an audience that is a map', genuine('at+jwt', { ...claims, aud: { 0: claims.aud } })],
  ['no audience', genuine('at+jwt', without('aud'))],
  ['another issuer', genuine('at+jwt', { ...claims, iss: 'https://other.example' })],
  ['our issuer with a slash', genuine('at+jwt', { ...claims, iss: `${ISSUER}/` })],
  ['no issuer', genuine('at+jwt', without('iss'))],
  ['no tid', genuine('at+jwt', without('tid'))],
  ['a tid that is a number', genuine('at+jwt', { ...claims, tid: 7 })],
  ['two tenants', genuine('at+jwt', { ...claims, tid: 'tenant-2' })],
  ['no subject', genuine('at+jwt', without('sub'))],
  ['expired', genuine('at+jwt', { ...claims, exp: now - 30 })],
  ['no expiry', genuine('at+jwt', without('exp'))],
  ['an expiry that is a text', genuine('at+jwt', { ...claims, exp: '9999999999' })],
  [
    'an expiry beyond numbers',
    signed(header, JSON.stringify(claims).replace(`${now + 900}`, '1e999')),
  ],
  ['no time of issue', genuine('at+jwt', without('iat'))],
  ['issued in the future', genuine('at+jwt', { ...claims, iat: now + 31 })],
  ['not yet valid', genuine('at+jwt', { ...claims, nbf: now + 31 })],
  [
    'a claim that stands twice',
    signed(header, JSON.stringify(claims).replace('{', '{"tid":"tenant-9",')),
  ],
  ['a header name that stands twice', signed(`{"alg":"none",${JSON.stringify(header).slice(1)}`)],
  ['space in the claims', signed(header, JSON.stringify(claims, null, 1))],
  ['data behind the claims', signed(header, `${JSON.stringify(claims)}{}`)],
  ['claims that are a list', signed(header, '[]')],
  ['claims that are no JSON', signed(header, 'ann')],
  ['claims that are no UTF-8', `${h}.${Buffer.of(0xff, 0xfe).toString('base64url')}.${s}`],
  ['padding', `${h}.${p}.${s}=`],
  ['another alphabet', `${h}.${p}.+${s.slice(1)}`],
  ['a bit that decoding drops', `${h}.${p}.${lastBitFlipped}`],
  ['a line break behind it', `${good}\n`],
  ['a signature of another token', `${h}.${segment({ ...claims, sub: 'user-2' })}.${s}`],
  ['a token of more than 8 KiB', genuine('at+jwt', { ...claims, pad: 'x'.repeat(8192) })],
  ['a refresh token', 'rt_00000000-0000-4000-8000-000000000000.1.x'],
  ['an API key with a wrong checksum', `svc_live_${'a'.repeat(57)}`],
];

describe('S17 a forged token is refused', () => {
  it('while the genuine one that they were made from is taken', async () => {
    expect(await subject.authenticate(good, '192.0.2.1')).toMatchObject({
      kind: 'user',
      id: 'user-1',
    });
    expect(await subject.capability(genuine('agent-cap+jwt', capability))).toMatchObject({
      ok: { agentId: 'agent-1', keyId: 'akid-1' },
    });
  });

  it.each(FORGED)('%s', async (_, token) => {
    expect(await subject.authenticate(token, '192.0.2.1')).toBeUndefined();
    // Verifies the token a second time, in case a cache has stored the result.
    expect(await subject.authenticate(token, '192.0.2.1')).toBeUndefined();
    if (token !== FORGED.find(([name]) => name === 'a capability token')?.[1]) {
      expect(await subject.capability(token)).toMatchObject({ bad: 'invalid' });
    }
  });

  it('also where a library made it with keys of other kinds', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const es256 = await new SignJWT(claims)
      .setProtectedHeader({ ...header, alg: 'ES256' })
      .sign(privateKey);
    const hmacKey = new TextEncoder().encode(publicPem);
    const hs512 = await new SignJWT(claims)
      .setProtectedHeader({ ...header, alg: 'HS512' })
      .sign(hmacKey);
    for (const token of [es256, hs512]) {
      expect(await subject.authenticate(token, '192.0.2.1')).toBeUndefined();
    }
    // The library's own tokens under our key are valid, because the OAuth server issues tokens with it.
    const ours = await new SignJWT(claims)
      .setProtectedHeader(header)
      .sign(createPrivateKey(key.privateKey.export({ format: 'pem', type: 'pkcs8' })));
    expect(await subject.authenticate(ours, '192.0.2.1')).toMatchObject({ id: 'user-1' });
  });
});

/** One UTF-16 unit, including lone surrogates. */
const anyUnit = fc.nat(0xffff).map((unit) => String.fromCharCode(unit));

describe('F3 the reader of tokens', () => {
  it('believes no token with anything in it changed, and never throws', () => {
    const publicKey = createPublicKey(key.privateKey);
    const needs = {
      tokenClass: 'access',
      issuer: ISSUER,
      nowSeconds: now,
      keyOf: (kid: string) => (kid === key.kid ? publicKey : undefined),
    } as const;
    expect(verifyToken(good, needs)).toHaveProperty('ok');
    fc.assert(
      fc.property(
        fc.nat(good.length - 1),
        fc.oneof(fc.constant(''), fc.string({ minLength: 1, maxLength: 2 }), anyUnit),
        (at, put) => {
          const other = good.slice(0, at) + put + good.slice(at + 1);
          return other === good || 'bad' in verifyToken(other, needs);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('an agent', () => {
  const agentToken = (more: object, sign: SignToken = genuine): string =>
    sign('at+jwt', {
      ...claims,
      act: { sub: 'agent-1' },
      agent_id: 'agent-1',
      agent_session_id: 'as-1',
      roles: [],
      ...more,
    });

  it('is never taken for the user whose `sub` its token bears', async () => {
    expect(await subject.authenticate(agentToken({}), '192.0.2.1')).toMatchObject({
      kind: 'agent',
      id: 'agent-1',
      userId: 'user-1',
      agentSessionId: 'as-1',
      via: 'token',
    });
    expect(await subject.authenticate(agentToken({ sub: 'agent-1' }), '192.0.2.1')).toMatchObject({
      kind: 'agent',
      userId: null,
    });
    for (const half of [
      { agent_id: undefined },
      { agent_session_id: undefined },
      { act: undefined },
      { act: { sub: 'agent-2' } },
      { agent_id: 7 },
    ]) {
      expect(await subject.authenticate(agentToken(half), '192.0.2.1')).toBeUndefined();
    }
  });

  it('and an admin behind an impersonation can be told from the user', async () => {
    const token = genuine('at+jwt', { ...claims, act: { sub: 'admin-1' } });
    expect(await subject.authenticate(token, '192.0.2.1')).toMatchObject({
      kind: 'user',
      id: 'user-1',
      impersonatedBy: 'admin-1',
    });
    const odd = genuine('at+jwt', { ...claims, act: {} });
    expect(await subject.authenticate(odd, '192.0.2.1')).toBeUndefined();
  });

  it('standards 1 and a client that speaks for itself is a machine, and no user', async () => {
    const ofUser = { sid: undefined, auth_time: undefined, email: undefined };
    const own = { ...ofUser, sub: 'ci', client_id: 'ci', scope: 'audit:read', roles: ['admin'] };
    const token = genuine('at+jwt', { ...claims, ...own });
    const machine = { kind: 'client', id: 'ci', roles: ['admin'], scopes: ['audit:read'] };
    expect(await subject.authenticate(token, '192.0.2.1')).toMatchObject(machine);
    const odd = genuine('at+jwt', { ...claims, ...own, act: { sub: 'admin-1' } });
    expect(await subject.authenticate(odd, '192.0.2.1')).toBeUndefined();
  });
});
