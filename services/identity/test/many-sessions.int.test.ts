/** A user who signs in more often than the limit of sessions allows. */
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Account, claimsOf } from './identity-fixture.ts';
import { identityReplicas } from './replicas-fixture.ts';

const replicas = identityReplicas({ RATE_LIMIT_FACTOR: '10000', JWT_EXPIRY: '24h' });
const SIGN_INS = 1_200;
const AT_ONCE = 20;
const MINE = '/api/v1/me/sessions';

describe('the sessions of one user [identity-25]', () => {
  it('are 1,000 at most, listed, counted and ended truly, at two replicas', {
    timeout: 300_000,
  }, async () => {
    const { first } = replicas;
    const bob = await first.signUp();
    const began: Account[] = [];
    for (let number = 0; number < SIGN_INS / AT_ONCE; number += 1) {
      const some = Array.from({ length: AT_ONCE }, () => replicas.at(number).signInAgain(bob));
      began.push(...(await Promise.all(some)));
      first.clock.move(1_000);
    }
    const newest = began.at(-1) as Account;
    const list = async (query = '') => (await first.as(newest).get(`${MINE}${query}`)).body;
    await untilTrue(async () => (await list()).count === 1_000, {
      deadlineMs: 60_000,
      what: 'the sessions beyond 1,000 are ended',
    });
    const { sessions } = await list();
    expect(sessions).toHaveLength(1_000);
    const ids = new Set(sessions.map(({ id }: { id: string }) => id));
    expect(ids.size).toBe(1_000);
    // The session of the sign-up ends first, then the oldest others.
    expect(ids.has(claimsOf(bob.access).sid)).toBe(false);
    for (const { access } of began.slice(AT_ONCE * -40)) {
      expect(ids.has(claimsOf(access).sid)).toBe(true);
    }
    const page = await list('?limit=300&offset=900');
    expect(page).toMatchObject({ count: 1_000 });
    expect(page.sessions).toHaveLength(100);
    for (const fixture of [replicas.at(0), replicas.at(1)]) {
      const oldest = began[0] as Account;
      expect(await fixture.refresh(oldest.refresh)).toMatchObject({ status: 401 });
    }
    const ended = await first.as(newest).delete(MINE);
    expect(ended.body).toEqual({ revoked: 999, kept: 1 });
    expect((await list()).count).toBe(1);
  });

  it('beyond the limit end with a reason that others hear', async () => {
    const events = await replicas.first.eventsSince(0n);
    const limited = events.filter(
      ({ type, data }) =>
        type === 'SessionRevoked' && (data as { reason: string }).reason === 'limit',
    );
    expect(limited).toHaveLength(SIGN_INS + 1 - 1_000);
  });
});
