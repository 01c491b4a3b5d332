import { issueKey } from '@cardea/crypto';
import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { allowedFrom, authenticator } from './authenticator.ts';
import type { ClientPrincipal, IntrospectedKey, Revocation, UserPrincipal } from './principal.ts';

const HERE = '192.0.2.1';
const MISSES_MAX = 10;
const apiKey: IntrospectedKey = {
  kind: 'api_key',
  id: 'key-1',
  tenantId: 't1',
  scopes: ['fga:check'],
  environment: 'live',
  appId: null,
  expiresAt: null,
};
const agentKey: IntrospectedKey = {
  kind: 'agent',
  id: 'agent-1',
  tenantId: 't1',
  via: 'key',
  userId: null,
  agentSessionId: null,
  keyId: 'akid-1',
  appId: null,
  expiresAt: null,
  allowedCidrs: ['192.0.2.0/24', '2001:db8::/32'],
};

function fixture() {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const revoked = new Set<string>();
  const known = new Map<string, IntrospectedKey>();
  const subscriptionEpoch: { now: number | undefined } = { now: 0 };
  const looked: Revocation[] = [];
  const live = new Set<string>();
  let asked = 0;
  let counted = 0;
  let beingTried = 0;
  const subject = authenticator({
    verifier: { verify: async () => ({ bad: 'invalid' }), drop: () => {}, signedHere: () => {} },
    introspect: async (credential) => {
      asked += 1;
      return known.get(credential);
    },
    revocations: {
      isRevoked: (kind, id) => revoked.has(`${kind}:${id}`),
      subscriptionEpoch: () => subscriptionEpoch.now,
      look: async (list) => {
        looked.push(...list);
        return {
          revoked: list.map(({ kind, id }) => live.has(`${kind}:${id}`)),
          values: undefined,
        };
      },
    },
    misses: {
      take: async () => {
        if (counted + beingTried >= MISSES_MAX) return { allowed: false, retryAfterSeconds: 7 };
        beingTried += 1;
        const end = async (by: number) => {
          beingTried -= 1;
          counted += by;
        };
        return { allowed: true, giveBack: () => end(0), keep: () => end(1) };
      },
    },
    dpop: { isProven: async () => false, read: async () => undefined },
    clock,
  });
  return {
    clock,
    revoked,
    known,
    subject,
    subscriptionEpoch,
    live,
    looked,
    asked: () => asked,
    counted: () => counted,
  };
}

describe('a caller whose role is asked for', () => {
  const admin: UserPrincipal = {
    kind: 'user',
    id: 'ann',
    tenantId: 't1',
    organizationId: null,
    email: null,
    roles: ['admin'],
    sessionId: null,
    authTime: null,
    appId: null,
    clientId: null,
    impersonatedBy: null,
    issuedAt: 100,
    expiresAt: 1000,
  };

  it('is looked up live, whatever this process remembers', async () => {
    const { subject, live, looked } = fixture();
    expect(await subject.confirm(admin)).toBe(admin);
    expect(looked).toEqual([
      { kind: 'user', id: 'ann' },
      { kind: 'rank', id: 'ann', at: 100 },
      { kind: 'tenant', id: 't1' },
    ]);
    live.add('rank:ann');
    expect(await subject.confirm(admin)).toBeUndefined();
  });

  it('falls with the admin who looks through their eyes', async () => {
    const { subject, live } = fixture();
    const seen = { ...admin, impersonatedBy: 'root' };
    expect(await subject.confirm(seen)).toBe(seen);
    live.add('rank:root');
    expect(await subject.confirm(seen)).toBeUndefined();
  });

  it('P3 shows no sign-in once its session has ended', async () => {
    const { subject, live, looked } = fixture();
    const signedIn = { ...admin, sessionId: 's1', authTime: 90 };
    expect(await subject.confirm(signedIn)).toBe(signedIn);
    expect(looked).toContainEqual({ kind: 'sid', id: 's1' });
    live.add('sid:s1');
    expect(await subject.confirm(signedIn)).toEqual({ ...signedIn, authTime: null });
    live.add('user:ann');
    expect(await subject.confirm(signedIn)).toBeUndefined();
  });

  it('P3 shows no sign-in without a session once the sign-ins of its user have ended', async () => {
    const { subject, live, looked } = fixture();
    const signedIn = { ...admin, authTime: 90 };
    expect(await subject.confirm(signedIn)).toBe(signedIn);
    expect(looked).toContainEqual({ kind: 'signin', id: 'ann', at: 100 });
    live.add('signin:ann');
    expect(await subject.confirm(signedIn)).toEqual({ ...signedIn, authTime: null });
  });

  it('standards 2 of a machine is looked up live, and ends with its client', async () => {
    const { subject, live, looked } = fixture();
    const machine: ClientPrincipal = {
      ...{ kind: 'client', id: 'ci', tenantId: 't1', appId: 'ci' },
      ...{ roles: ['admin'], scopes: ['audit:read'], issuedAt: 100 },
    };
    expect(await subject.confirm(machine)).toBe(machine);
    expect(looked).toContainEqual({ kind: 'rank', id: 'ci', at: 100 });
    for (const mark of ['key:ci', 'rank:ci', 'tenant:t1']) {
      live.clear();
      live.add(mark);
      expect(await subject.confirm(machine)).toBeUndefined();
    }
  });

  it('is not looked up where it has no role to lose', async () => {
    const { subject, looked } = fixture();
    expect(await subject.confirm(apiKey)).toBe(apiKey);
    expect(looked).toEqual([]);
  });
});

describe('an opaque key', () => {
  it('is asked for once in 30 s, and a typo never', async () => {
    const { clock, known, subject, asked } = fixture();
    const { text } = issueKey('svc', 'live');
    known.set(text, apiKey);
    const { expiresAt: _, ...principal } = apiKey;
    const all = await Promise.all([1, 2, 3].map(() => subject.authenticate(text, HERE)));
    expect(all).toEqual([principal, principal, principal]);
    expect(asked()).toBe(1);
    expect(await subject.authenticate(`${text.slice(0, -1)}!`, HERE)).toBeUndefined();
    expect(asked()).toBe(1);
    // If no service has to be asked, the result is not a promise.
    expect(subject.authenticate(text, HERE)).toEqual(principal);
    await clock.advance(30_000);
    await subject.authenticate(text, HERE);
    expect(asked()).toBe(2);
  });

  it('S9 that is not taken is counted, and one that is taken is not', async () => {
    const { known, revoked, subject, counted } = fixture();
    const [svc, agk] = [issueKey('svc', 'live').text, issueKey('agk', 'live').text];
    known.set(svc, apiKey).set(agk, agentKey);
    await subject.authenticate(svc, HERE);
    await subject.authenticate(agk, HERE);
    await subject.authenticate(svc, HERE);
    expect(counted()).toBe(0);
    await subject.authenticate('svc_live_typo', HERE);
    await subject.authenticate(issueKey('svc', 'live').text, HERE);
    await subject.authenticate(agk, '198.51.100.1');
    revoked.add('key:key-1');
    await subject.authenticate(svc, HERE);
    expect(counted()).toBe(4);
  });

  it('S9 of an address that missed too often is asked for only where it was taken before', async () => {
    const { clock, known, subject, asked } = fixture();
    const [taken, other] = [issueKey('svc', 'live').text, issueKey('svc', 'live').text];
    known.set(taken, apiKey).set(other, { ...apiKey, id: 'key-2' });
    await subject.authenticate(taken, HERE);
    for (let miss = 0; miss < MISSES_MAX; miss += 1) {
      expect(await subject.authenticate(issueKey('agk', 'live').text, HERE)).toBeUndefined();
    }
    const before = asked();
    const tooMany = { kind: 'too_many_misses', retryAfterSeconds: 7 };
    expect(await subject.authenticate(other, HERE)).toEqual(tooMany);
    expect(await subject.authenticate('svc_live_typo', HERE)).toEqual(tooMany);
    expect(asked()).toBe(before);
    await clock.advance(30_000);
    const all = await Promise.all([1, 2, 3].map(() => subject.authenticate(taken, HERE)));
    expect(all.map((each) => each?.kind)).toEqual(['api_key', 'api_key', 'api_key']);
    known.delete(taken);
    await clock.advance(30_000);
    expect(await subject.authenticate(taken, HERE)).toEqual(tooMany);
  });

  it('that was refused works as soon as it is known', async () => {
    const { known, subject } = fixture();
    const { text } = issueKey('svc', 'live');
    expect(await subject.authenticate(text, HERE)).toBeUndefined();
    known.set(text, apiKey);
    expect(await subject.authenticate(text, HERE)).toMatchObject({ id: 'key-1' });
  });

  it('ends with its revocation, its agent and its time though it is cached', async () => {
    const { clock, revoked, known, subject } = fixture();
    const [svc, agk] = [issueKey('svc', 'live').text, issueKey('agk', 'test').text];
    known.set(svc, { ...apiKey, expiresAt: clock.now().getTime() / 1000 + 10 });
    known.set(agk, agentKey);
    const live = async () => [
      (await subject.authenticate(svc, HERE)) !== undefined,
      (await subject.authenticate(agk, HERE)) !== undefined,
    ];
    expect(await live()).toEqual([true, true]);
    revoked.add('key:key-1').add('agent:agent-1');
    expect(await live()).toEqual([false, false]);
    revoked.clear();
    revoked.add('key:akid-1');
    expect(await live()).toEqual([true, false]);
    await clock.advance(10_000);
    expect(await live()).toEqual([false, false]);
  });

  it('is asked for again once its secret was rotated, and lives on by what is said then', async () => {
    const { revoked, known, subject, asked } = fixture();
    const { text } = issueKey('svc', 'live');
    known.set(text, { ...apiKey, stamp: 'key-1.0.current' });
    const principal = await subject.authenticate(text, HERE);
    expect(principal).toBeDefined();
    expect(principal).not.toHaveProperty('stamp');
    known.set(text, { ...apiKey, stamp: 'key-1.1.previous' });
    revoked.add('key:key-1.0.current');
    expect(await subject.authenticate(text, HERE)).toBeDefined();
    expect(asked()).toBe(2);
    known.delete(text);
    revoked.add('key:key-1.1.previous');
    expect(await subject.authenticate(text, HERE)).toBeUndefined();
  });

  it('is asked for every time while revocations may be missed, and anew after that', async () => {
    const { known, subject, subscriptionEpoch, asked } = fixture();
    const { text } = issueKey('svc', 'live');
    known.set(text, apiKey);
    const isLive = async () => (await subject.authenticate(text, HERE)) !== undefined;
    expect([await isLive(), await isLive(), asked()]).toEqual([true, true, 1]);
    subscriptionEpoch.now = undefined;
    expect([await isLive(), await isLive(), asked()]).toEqual([true, true, 3]);
    known.delete(text);
    expect(await isLive()).toBe(false);
    known.set(text, apiKey);
    subscriptionEpoch.now = 0;
    expect([await isLive(), asked()]).toEqual([true, 5]);
    subscriptionEpoch.now = 1;
    known.delete(text);
    expect(await isLive()).toBe(false);
  });

  it('of an agent counts only from the addresses that it was given', async () => {
    const { known, subject } = fixture();
    const { text } = issueKey('agk', 'live');
    known.set(text, agentKey);
    const principal = await subject.authenticate(text, HERE);
    expect(principal).toMatchObject({ kind: 'agent', via: 'key', keyId: 'akid-1' });
    expect(principal).not.toHaveProperty('allowedCidrs');
    for (const ip of ['::ffff:192.0.2.9', '2001:db8::1']) {
      expect(await subject.authenticate(text, ip)).toBeDefined();
    }
    for (const ip of ['192.0.3.1', '2001:db9::1', 'nonsense', '', '::ffff:192.0.3.1']) {
      expect(await subject.authenticate(text, ip)).toBeUndefined();
    }
    expect(allowedFrom([])('anywhere')).toBe(true);
    expect(allowedFrom(['192.0.2.7'])('192.0.2.7')).toBe(true);
    expect(allowedFrom(['nonsense'])('192.0.2.7')).toBe(false);
  });
});
