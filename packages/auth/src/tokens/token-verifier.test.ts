import { type Clock, fakeClock, inProcessCache } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import type { Revocation } from '../principal.ts';
import { signer } from './signer.ts';
import { generateSigningKey, publicJwk } from './signing-key.ts';
import { dropOnKeysChanged, KEYS_CHANGED, tokenVerifier } from './token-verifier.ts';

const ISSUER = 'https://id.example';
const claimsAt = (clock: Clock, more: object = {}) => {
  const now = Math.floor(clock.now().getTime() / 1000);
  const tenant = { tid: 't1', tenant_id: 't1' };
  const who = { iss: ISSUER, sub: 'user-1', aud: `${ISSUER}/api`, jti: 'j', ...tenant };
  return { ...who, iat: now, exp: now + 900, ...more };
};

function fixture() {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const revoked = new Set<string>();
  const ranks = new Map<string, number>();
  const ended = new Set<string>();
  const missing = { are: false };
  const looked: (readonly Revocation[])[] = [];
  const published = [generateSigningKey()];
  let fetches = 0;
  let down = false;
  const verifier = tokenVerifier({
    jwks: async () => {
      fetches += 1;
      if (down) throw new Error('away');
      return { keys: published.map(({ privateKey }) => publicJwk(privateKey)) };
    },
    issuer: ISSUER,
    clock,
    revocations: {
      isRevoked: (kind, id, at = 0) =>
        kind === 'rank' ? at < (ranks.get(id) ?? 0) : revoked.has(`${kind}:${id}`),
      subscriptionEpoch: () => (missing.are ? undefined : 0),
      look: async (list) => {
        looked.push(list);
        return { revoked: list.map(({ id }) => ended.has(id)), values: undefined };
      },
    },
  });
  const token = (key = published[0], more: object = {}) =>
    signer({ active: () => key ?? generateSigningKey() })('at+jwt', claimsAt(clock, more));
  return {
    clock,
    revoked,
    ranks,
    ended,
    missing,
    looked,
    published,
    verifier,
    token,
    fetches: () => fetches,
    goDown: (is: boolean) => {
      down = is;
    },
  };
}
const OK = { ok: { sub: 'user-1' } };

describe('the verifier of a process', () => {
  it('refuses a token that was issued before its user lost a rank, and takes the next', async () => {
    const { clock, verifier, token, ranks } = fixture();
    const now = claimsAt(clock).iat;
    ranks.set('user-1', now);
    expect(await verifier.verify('access', token())).toMatchObject(OK);
    ranks.set('user-1', now + 1);
    expect(await verifier.verify('access', token())).toEqual({ bad: 'invalid' });
    expect(await verifier.verify('access', token(undefined, { iat: now + 1 }))).toMatchObject(OK);
    // An agent's token has no rank.
    const ofAgent = { agent_id: 'agent-1', agent_session_id: 'as-1', act: { sub: 'agent-1' } };
    expect(await verifier.verify('access', token(undefined, ofAgent))).toMatchObject(OK);
  });

  it('asks for every revocation that may end a token while revocations may be missed here', async () => {
    const { clock, verifier, token, missing, ended, looked } = fixture();
    const own = token(undefined, { act: { sub: 'agent-1' }, agent_session_id: 'as-1' });
    expect(await verifier.verify('access', own)).toMatchObject(OK);
    expect(looked).toEqual([]);
    missing.are = true;
    expect(await verifier.verify('access', own)).toMatchObject(OK);
    expect(looked).toEqual([
      [
        { kind: 'tenant', id: claimsAt(clock).tid },
        { kind: 'user', id: 'user-1' },
        { kind: 'user', id: 'agent-1' },
        { kind: 'asid', id: 'as-1' },
        { kind: 'rank', id: 'user-1', at: claimsAt(clock).iat },
        { kind: 'rank', id: 'agent-1', at: claimsAt(clock).iat },
      ],
    ]);
    ended.add('as-1');
    expect(await verifier.verify('access', own)).toEqual({ bad: 'invalid' });
    missing.are = false;
    expect(await verifier.verify('access', own)).toMatchObject(OK);
  });

  it('takes a token that was signed here without its signature, and everything else about it as ever', async () => {
    const { clock, verifier, token, published, ended, missing } = fixture();
    /** A token with an invalid signature, which is accepted only if it was signed here. */
    const unsigned = (more: object = {}): string => {
      const [header, payload] = token(published[0], more).split('.');
      return `${header}.${payload}.${Buffer.alloc(64, 1).toString('base64url')}`;
    };
    const own = unsigned({ jti: 'own' });
    expect(await verifier.verify('access', own)).toEqual({ bad: 'invalid' });
    verifier.signedHere(own);
    expect(await verifier.verify('capability', own)).toEqual({ bad: 'invalid' });
    expect(await verifier.verify('access', unsigned({ jti: 'other' }))).toEqual({ bad: 'invalid' });
    expect(await verifier.verify('access', own)).toMatchObject(OK);
    missing.are = true;
    ended.add('user-1');
    expect(await verifier.verify('access', own)).toEqual({ bad: 'invalid' });
    missing.are = false;

    const late = unsigned({ jti: 'late' });
    verifier.signedHere(late);
    await clock.advance(1_000_000);
    expect(await verifier.verify('access', late)).toEqual({ bad: 'invalid' });
    const elsewhere = unsigned({ jti: 'elsewhere', iss: 'https://other.example' });
    verifier.signedHere(elsewhere);
    expect(await verifier.verify('access', elsewhere)).toEqual({ bad: 'invalid' });

    const removed = unsigned({ jti: 'removed' });
    verifier.signedHere(removed);
    published[0] = generateSigningKey();
    verifier.drop();
    verifier.signedHere(removed);
    expect(await verifier.verify('access', removed)).toEqual({ bad: 'invalid' });
  });

  it('fetches the keys once for many tokens that come at once', async () => {
    const { verifier, token, fetches } = fixture();
    const tokens = Array.from({ length: 20 }, (_, n) => token(undefined, { jti: `j${n}` }));
    const all = await Promise.all(tokens.map((each) => verifier.verify('access', each)));
    expect(all.filter((each) => 'ok' in each)).toHaveLength(20);
    expect(fetches()).toBe(1);
  });

  it('looks for an unknown key at most once in 30 s, whoever makes keys up', async () => {
    const { clock, verifier, token, fetches, published } = fixture();
    await verifier.verify('access', token());
    const added = generateSigningKey();
    for (let forged = 0; forged < 10; forged += 1) {
      expect(await verifier.verify('access', token(generateSigningKey()))).toEqual({
        bad: 'invalid',
      });
    }
    expect(fetches()).toBe(1);
    published.push(added);
    await clock.advance(30_001);
    const [first, second] = await Promise.all([
      verifier.verify('access', token(added)),
      verifier.verify('access', token(generateSigningKey())),
    ]);
    expect(first).toMatchObject(OK);
    expect(second).toEqual({ bad: 'invalid' });
    expect(fetches()).toBe(2);
  });

  it('says when no keys can be had, and not that a token is bad', async () => {
    const { verifier, token, goDown } = fixture();
    goDown(true);
    await expect(verifier.verify('access', token())).rejects.toThrow('away');
    goDown(false);
    expect(await verifier.verify('access', token())).toMatchObject(OK);
  });

  it('goes on with the keys it holds while identity is away, for 12 h', async () => {
    const { clock, verifier, token, goDown } = fixture();
    await verifier.verify('access', token());
    goDown(true);
    await clock.advance(11 * 3_600_000);
    expect(await verifier.verify('access', token())).toMatchObject(OK);
    await clock.advance(2 * 3_600_000);
    await expect(verifier.verify('access', token())).rejects.toThrow('away');
  });

  it('lets go of a removed key without a notice within minutes, and with one at once', async () => {
    const { clock, verifier, token, published } = fixture();
    const cache = inProcessCache(clock);
    await dropOnKeysChanged(verifier, cache);
    const [removed] = published;
    const old = token(removed);
    expect(await verifier.verify('access', old)).toMatchObject(OK);
    published[0] = generateSigningKey();
    expect(await verifier.verify('access', old)).toMatchObject(OK);
    await cache.publish(KEYS_CHANGED, '');
    expect(await verifier.verify('access', old)).toEqual({ bad: 'invalid' });

    const kept = published[0];
    const other = token(kept);
    expect(await verifier.verify('access', other)).toMatchObject(OK);
    published[0] = generateSigningKey();
    await clock.advance(300_001);
    await verifier.verify('access', token(kept, { jti: 'wakes the renewal' }));
    await clock.advance(1);
    expect(await verifier.verify('access', token(kept, { jti: 'late' }))).toEqual({
      bad: 'invalid',
    });
  });

  it('asks a cached token for its time and its revocations at every use', async () => {
    const { clock, revoked, verifier, token } = fixture();
    const short = token(undefined, { exp: clock.now().getTime() / 1000 + 5 });
    expect(await verifier.verify('access', short)).toMatchObject(OK);
    await clock.advance(4_999);
    expect(await verifier.verify('access', short)).toMatchObject(OK);
    await clock.advance(1);
    expect(await verifier.verify('access', short)).toMatchObject({ bad: 'expired' });

    const agent = token(undefined, {
      act: { sub: 'agent-1' },
      agent_id: 'agent-1',
      agent_session_id: 'as-1',
      sid: 'sid-1',
    });
    expect(await verifier.verify('access', agent)).toMatchObject(OK);
    for (const revocation of ['user:user-1', 'agent:agent-1', 'asid:as-1']) {
      revoked.add(revocation);
      expect(await verifier.verify('access', agent)).toEqual({ bad: 'invalid' });
      revoked.clear();
    }
    revoked.add('sid:sid-1');
    expect(await verifier.verify('access', agent)).toMatchObject(OK);
  });

  it('R13 forgives a clock that is 30 s ahead, and takes no token that has ended', async () => {
    const { clock, verifier, token } = fixture();
    const now = clock.now().getTime() / 1000;
    expect(await verifier.verify('access', token(undefined, { iat: now + 30 }))).toMatchObject(OK);
    expect(await verifier.verify('access', token(undefined, { iat: now + 31 }))).toEqual({
      bad: 'invalid',
    });
    expect(await verifier.verify('access', token(undefined, { exp: now }))).toMatchObject({
      bad: 'expired',
    });
  });
});
