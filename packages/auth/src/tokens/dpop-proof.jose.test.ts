/**
 * Compares our validation of proofs with that of jose, over valid proofs and proofs that are broken in one or
 * two of the many forms below. `isStricter` names the forms for which ours is stricter.
 */
import {
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  type SignKeyObjectInput,
  sign,
} from 'node:crypto';
import { fakeClock, inProcessCache } from '@cardea/runtime';
import { testForm } from '@cardea/testing';
import fc from 'fast-check';
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { DPOP_ALGORITHMS, DPOP_PROOF_MAX_BYTES, DPOP_PROOF_S, dpopProofs } from './dpop-proof.ts';

const ISSUER = 'https://id.example.com';
const PATH = '/api/v1/fga/check';
const HTU = `${ISSUER}${PATH}`;
const TOKEN_DIGEST = 'fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo';
const MODULUS_BITS_MAX = 4096;
const clock = fakeClock('2026-01-01T00:00:00Z');
const now = clock.now().getTime() / 1000;

type Pair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
type Json = { readonly [name: string]: unknown };

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const edwards = generateKeyPairSync('ed25519');
const PAIRS: { readonly [alg: string]: Pair } = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: edwards,
  Ed25519: edwards,
  RS256: rsa,
  PS256: rsa,
};
/** Keys that none of the algorithms may use. */
const FOREIGN: readonly Pair[] = [
  generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
  generateKeyPairSync('ed448'),
  generateKeyPairSync('rsa', { modulusLength: 1024 }),
];
const pairOf = (alg: string): Pair => PAIRS[alg] ?? edwards;
const jwkOf = ({ publicKey }: Pair): Json => publicKey.export({ format: 'jwk' }) as Json;
const encoded = (value: string | Buffer) => Buffer.from(value).toString('base64url');

/** Everything that a proof consists of. Each change breaks some of it. */
type Draft = {
  readonly alg: string;
  readonly pair: Pair;
  readonly header: Json;
  readonly claims: Json;
  /** How the signature is made, and which text is sent. */
  readonly form: (alg: string) => Omit<SignKeyObjectInput, 'key'>;
  readonly signature: (made: Buffer) => Buffer;
  readonly text: (whole: string) => string;
};

const PSS = { padding: 6, saltLength: 32 } as const;
const formOf = (alg: string): Omit<SignKeyObjectInput, 'key'> => {
  if (alg === 'ES256') return { dsaEncoding: 'ieee-p1363' };
  return alg === 'PS256' ? PSS : {};
};
const rightDraft = (alg: string): Draft => ({
  alg,
  pair: pairOf(alg),
  header: { typ: 'dpop+jwt', alg, jwk: jwkOf(pairOf(alg)) },
  claims: { jti: randomUUID(), htm: 'POST', htu: HTU, iat: now, ath: TOKEN_DIGEST },
  form: formOf,
  signature: (made) => made,
  text: (whole) => whole,
});

function printed({ alg, pair, header, claims, form, signature, text }: Draft): string {
  const signed = `${encoded(JSON.stringify(header))}.${encoded(JSON.stringify(claims))}`;
  const digest = pair.publicKey.asymmetricKeyType?.startsWith('ed') ? null : 'sha256';
  const usable = form(pair.publicKey.asymmetricKeyType === 'ec' ? 'ES256' : alg);
  const made = sign(digest, Buffer.from(signed), { key: pair.privateKey, ...usable });
  return text(`${signed}.${encoded(signature(made))}`);
}

type Change = (draft: Draft) => Draft;
const withHeader =
  (change: (draft: Draft) => Json): Change =>
  (draft) => ({ ...draft, header: { ...draft.header, ...change(draft) } });
const withJwk = (members: Json): Change =>
  withHeader(({ header }) => ({ jwk: { ...(header['jwk'] as Json), ...members } }));
const withClaims =
  (claims: Json): Change =>
  (draft) => ({ ...draft, claims: { ...draft.claims, ...claims } });
const withSignature =
  (signature: Draft['signature']): Change =>
  (draft) => ({ ...draft, signature });
const withText =
  (text: Draft['text']): Change =>
  (draft) => ({ ...draft, text });
const withParts = (change: (parts: readonly string[]) => readonly string[]): Change =>
  withText((whole) => change(whole.split('.')).join('.'));
const halves = (made: Buffer) => [made.subarray(0, 32), made.subarray(32)] as const;

const algorithms = fc.constantFrom<string>(...DPOP_ALGORITHMS);
const seconds = fc.integer({ min: -90, max: 90 });
const anything = fc.jsonValue({ maxDepth: 2 });
const someText = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('', 'GET', 'post'));
const addresses = fc.constantFrom(
  ...[`${HTU}?a=1`, `${HTU}#b`, `${HTU}/`, `HTTPS://ID.example.com:443${PATH}`, `${HTU}%2f`],
  ...[
    `http://id.example.com${PATH}`,
    `https://evil.example${PATH}`,
    PATH,
    '',
    `${ISSUER}//${PATH}`,
  ],
);
const privateMembers = fc.constantFrom<string>('d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k');

const changes: fc.Arbitrary<Change> = fc.oneof(
  fc.constant<Change>((draft) => draft),
  seconds.map((by) => withClaims({ iat: now + by })),
  seconds.map((by) => withClaims({ exp: now + by })),
  seconds.map((by) => withClaims({ nbf: now + by })),
  fc
    .tuple(fc.constantFrom('iat', 'exp', 'nbf', 'jti', 'htm', 'htu', 'ath'), anything)
    .map(([name, value]) => withClaims({ [name]: value })),
  someText.map((htm) => withClaims({ htm })),
  someText.map((ath) => withClaims({ ath })),
  addresses.map((htu) => withClaims({ htu })),
  fc.nat({ max: 600 }).map((length) => withClaims({ jti: 'j'.repeat(length) })),
  fc.nat({ max: DPOP_PROOF_MAX_BYTES }).map((length) => withClaims({ more: 'x'.repeat(length) })),
  // The name of another algorithm, of `none`, or of one whose key is public.
  fc
    .constantFrom('none', 'HS256', 'ES384', 'ES256K', 'RS512', 'PS384', ...DPOP_ALGORITHMS)
    .map((alg) => withHeader(() => ({ alg }))),
  fc.constant(
    withText((whole) => {
      const [, payload = ''] = whole.split('.');
      const jwk = jwkOf(edwards);
      const header = encoded(JSON.stringify({ typ: 'dpop+jwt', alg: 'HS256', jwk }));
      const mac = createHmac('sha256', String(jwk['x'])).update(`${header}.${payload}`).digest();
      return `${header}.${payload}.${encoded(mac)}`;
    }),
  ),
  fc
    .constantFrom('jwt', 'DPoP+jwt', 'application/dpop+jwt', 7, null)
    .map((typ) => withHeader(() => ({ typ }))),
  fc.constantFrom(['exp'], [], 'b64', ['b64']).map((crit) => withHeader(() => ({ crit }))),
  // A key other than the signer's, or an invalid signer.
  algorithms.map((alg) => withHeader(() => ({ jwk: jwkOf(pairOf(alg)) }))),
  fc.constantFrom(...FOREIGN).map(
    (pair): Change =>
      (draft) => ({ ...draft, pair }),
  ),
  fc.constantFrom(...FOREIGN).map(
    (pair): Change =>
      (draft) => ({ ...draft, pair, header: { ...draft.header, jwk: jwkOf(pair) } }),
  ),
  privateMembers.map((member) => withJwk({ [member]: 'AQAB' })),
  anything.map((jwk) => withHeader(() => ({ jwk }))),
  fc
    .tuple(fc.constantFrom('kty', 'crv', 'x', 'y', 'n', 'e'), anything)
    .map(([member, value]) => withJwk({ [member]: value })),
  fc.constantFrom('sig', 'enc', 7).map((use) => withJwk({ use })),
  fc.constantFrom('ES256', 'EdDSA', 'RS512').map((alg) => withJwk({ alg })),
  fc
    .constantFrom(['verify'], ['sign', 'verify'], ['sign'], 'verify', ['verify', 'verify'])
    .map((key_ops) => withJwk({ key_ops })),
  // OpenSSL's signature format instead of that of RFC 7518, and numbers that are not on the curve.
  fc.constant<Change>((draft) => ({ ...draft, form: () => ({}) })),
  fc.constant(withSignature((made) => Buffer.concat(halves(made).toReversed()))),
  fc.constant(withSignature((made) => Buffer.concat([halves(made)[0], Buffer.alloc(32)]))),
  fc.constant(withSignature((made) => Buffer.alloc(made.length, 0xff))),
  fc
    .integer({ min: -3, max: 3 })
    .map((by) =>
      withSignature((made) => Buffer.concat([made, Buffer.alloc(Math.max(by, 0))]).subarray(-by)),
    ),
  fc.constant(withSignature(() => Buffer.alloc(0))),
  // Other encodings of the same bytes, and other texts.
  fc
    .nat({ max: 2 })
    .map((at) => withParts((parts) => parts.map((p, i) => (i === at ? `${p}=` : p)))),
  fc.tuple(fc.nat(), fc.constantFrom(...'AQgw_-+/= .\n')).map(([at, character]) =>
    withText((whole) => {
      const place = at % whole.length;
      return whole.slice(0, place) + character + whole.slice(place + 1);
    }),
  ),
  fc
    .constantFrom(...'ABCDEFGHQRSTghijwxyz')
    .map((last) => withText((whole) => whole.slice(0, -1) + last)),
  fc.constant(withParts((parts) => [...parts, ''])),
  fc.constant(withParts((parts) => parts.slice(0, 2))),
);

/**
 * Verifies by jose, adding the requirements of RFC 9449, 4.3 to those of a JWT that is signed by the key in its header.
 */
async function isRightByJose(proof: string, thumbprint: string): Promise<boolean> {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [...DPOP_ALGORITHMS],
      currentDate: clock.now(),
      clockTolerance: DPOP_PROOF_S,
      maxTokenAge: 0,
    });
    const { jti, htm, htu, ath } = payload;
    const sent = URL.parse(String(htu));
    return (
      typeof jti === 'string' &&
      typeof htu === 'string' &&
      sent !== null &&
      `${sent.origin}${sent.pathname}` === HTU &&
      htm === 'POST' &&
      ath === TOKEN_DIGEST &&
      (await calculateJwkThumbprint(protectedHeader.jwk ?? {})) === thumbprint
    );
  } catch {
    return false;
  }
}

/** Whether we refuse a proof that jose accepts. */
function isStricter(proof: string, { claims }: Draft): boolean {
  if (proof.length > DPOP_PROOF_MAX_BYTES) return true;
  if (proof.split('.').some((each) => encoded(Buffer.from(each, 'base64url')) !== each))
    return true;
  const { typ, crit, jwk = {} } = decodeProtectedHeader(proof);
  const { n } = jwk as { readonly n?: unknown };
  const modulus = Buffer.from(typeof n === 'string' ? n : '', 'base64url');
  return (
    typ !== 'dpop+jwt' ||
    crit !== undefined ||
    ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].some((member) => member in jwk) ||
    modulus.length * 8 > MODULUS_BITS_MAX ||
    claims['jti'] === '' ||
    String(claims['jti']).length > 512
  );
}

const isRightByUs = (proof: string, thumbprint: string) =>
  dpopProofs({ issuer: ISSUER, clock, cache: inProcessCache(clock) }).isProven(proof, {
    ...{ method: 'POST', path: PATH, tokenDigest: TOKEN_DIGEST, thumbprint },
  });

describe('a proof of DPoP', () => {
  it('is right for us if it is for jose, but for what we name, and never if it is not [oauth-39]', async () => {
    const seen = { right: 0, wrong: 0, stricter: 0 };
    await fc.assert(
      fc.asyncProperty(
        algorithms,
        fc.array(changes, { minLength: 0, maxLength: 2 }),
        async (alg, some) => {
          const draft = some.reduce((made, change) => change(made), rightDraft(alg));
          const proof = printed(draft);
          const thumbprint = await calculateJwkThumbprint(jwkOf(pairOf(alg)));
          const byJose = await isRightByJose(proof, thumbprint);
          const expected = byJose && !isStricter(proof, draft);
          seen[expected ? 'right' : byJose ? 'stricter' : 'wrong'] += 1;
          const isRight = await isRightByUs(proof, thumbprint);
          const of = JSON.stringify([draft.header, draft.claims]);
          expect(isRight, `${of} ${proof}`).toBe(expected);
        },
      ),
      { numRuns: testForm.long ? 4_000 : 1_500 },
    );
    // If one of the three kinds hardly occurred, the comparison would say nothing about it.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(20);
  });

  it('by ES256 is right whatever its numbers begin with: zeros, or a bit that is a sign in DER', async () => {
    const thumbprint = await calculateJwkThumbprint(jwkOf(pairOf('ES256')));
    const begins = new Set<string>();
    for (let made = 0; made < 3_000; made += 1) {
      const proof = printed(rightDraft('ES256'));
      const signature = Buffer.from(proof.slice(proof.lastIndexOf('.') + 1), 'base64url');
      for (const number of halves(signature)) {
        const [first = 0, second = 0] = number;
        begins.add(first === 0 ? `0 ${second < 0x80}` : `${first < 0x80}`);
      }
      if (made < 500 || signature[0] === 0 || signature[32] === 0) {
        expect(await isRightByUs(proof, thumbprint)).toBe(true);
      }
    }
    expect([...begins].sort()).toEqual(['0 false', '0 true', 'false', 'true']);
  });
});
