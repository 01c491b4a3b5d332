import { createPrivateKey } from 'node:crypto';
import { calculateJwkThumbprint, createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { signer } from './signer.ts';
import { exportPrivateKey, generateSigningKey, importPublicJwk, publicJwk } from './signing-key.ts';

describe('a signing key', () => {
  it('is named by its thumbprint, and comes back from its export', async () => {
    const key = generateSigningKey();
    const jwk = publicJwk(key.privateKey);
    expect(key.kid).toBe(await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x: jwk.x }));
    const der = Buffer.from(exportPrivateKey(key.privateKey), 'base64url');
    const back = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    expect(publicJwk(back).kid).toBe(key.kid);
    expect(back.equals(key.privateKey)).toBe(true);
  });

  it('signs what any verifier with the public half believes', async () => {
    const key = generateSigningKey();
    const token = signer({ active: () => key })('at+jwt', { sub: 'ann', aud: 'api' });
    const keys = createLocalJWKSet({ keys: [{ ...publicJwk(key.privateKey) }] });
    const { payload, protectedHeader } = await jwtVerify(token, keys, { typ: 'at+jwt' });
    expect(payload).toEqual({ sub: 'ann', aud: 'api' });
    expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: key.kid });
  });

  it('signs with the one that is active now', () => {
    const [first, second] = [generateSigningKey(), generateSigningKey()];
    let active = first;
    const sign = signer({ active: () => active });
    const kidOf = (token: string) =>
      JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
    expect(kidOf(sign('at+jwt', {}))).toBe(first.kid);
    active = second;
    expect(kidOf(sign('at+jwt', {}))).toBe(second.kid);
  });

  it('of another kind, or under a name that is not its own, is no key of ours', () => {
    const jwk = publicJwk(generateSigningKey().privateKey);
    expect(importPublicJwk(jwk)?.kid).toBe(jwk.kid);
    for (const other of [
      { ...jwk, kid: 'x' },
      { ...jwk, kty: 'EC' },
      { ...jwk, crv: 'X25519' },
      { ...jwk, x: 'AAAA' },
      {},
    ]) {
      expect(importPublicJwk(other)).toBeUndefined();
    }
  });
});
