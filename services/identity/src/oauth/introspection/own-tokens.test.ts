import { generateSigningKey, publicJwk, signer, TOKEN_CLASSES } from '@cardea/auth';
import { systemClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { ownTokens } from './own-tokens.ts';

const ISSUER = 'https://cardea.test';

/** Uses a ring with one key. `ms` sets both clocks. */
function subject() {
  const key = generateSigningKey();
  const time = { ms: 0 };
  const start = systemClock.now().getTime();
  const clock = {
    ...systemClock,
    now: () => new Date(start + time.ms),
    monotonicMs: () => time.ms,
  };
  const iat = Math.floor(start / 1000);
  const token = signer({ active: () => key })(TOKEN_CLASSES.access.typ, {
    ...{ iss: ISSUER, sub: 'ann', aud: `${ISSUER}/api`, jti: 'jti', tid: 't', tenant_id: 't' },
    ...{ iat, exp: iat + 20, auth_time: iat },
  });
  const ring = { keys: [publicJwk(key.privateKey)] };
  const verify = ownTokens({
    settings: { ISSUER },
    clock,
    jwks: () => ring,
    latestJwks: async () => ring,
  });
  return { time, token, ring, verify };
}

describe('a token that this deployment signed', () => {
  it('is one object as long as it is kept, so that callers can keep what they know of it', async () => {
    const { token, verify } = subject();
    const first = await verify(token);
    expect(first?.claims.sub).toBe('ann');
    expect(await verify(token)).toBe(first);
  });

  it('ends while it is kept: with its key, and with its own time', async () => {
    const { time, token, ring, verify } = subject();
    await verify(token);
    const keys = ring.keys.splice(0);
    expect(await verify(token)).toBeUndefined();
    ring.keys.push(...keys);
    expect(await verify(token)).toBeDefined();
    time.ms = 55_000; // The time is past the clock tolerance, but before a cached token is verified again.
    expect(await verify(token)).toBeUndefined();
  });
});
