import type { Person } from '@cardea/contracts';
import { describe, expect, it } from 'vitest';
import { PeerUnavailable } from './peer-unavailable.ts';
import type { Peers } from './peers.ts';
import { setHolders } from './set-holders.ts';

const SET = { relation: 'member', object_type: 'team', object_id: 'payments' };
const ANN: Person = { id: 'ann', status: 'active', vouched: true, roles: ['member'] };
const ASKED = { tenantId: 't', set: SET };
const never = () => new Promise<never>(() => {});

/** A clock whose waits end when the test says so, and peers that respond or never respond. */
function world(silent: readonly (keyof Peers)[]) {
  const waits: { readonly ms: number; readonly end: () => void }[] = [];
  const calls: string[] = [];
  const answer = <Answer>(name: 'authz' | 'identity', call: string, value: Answer) => {
    calls.push(call);
    return silent.includes(name) ? never() : Promise.resolve(value);
  };
  const peers = {
    authz: {
      holders: () => answer('authz', 'holders', { user_ids: ['ann'], wildcard: false }),
      check: () => answer('authz', 'check', { allowed: [true] }),
    },
    identity: { people: () => answer('identity', 'people', { people: [ANN] }) },
  } as unknown as Pick<Peers, 'authz' | 'identity'>;
  const clock = {
    sleep: (ms: number) =>
      new Promise<void>((resolve) => {
        waits.push({ ms, end: resolve });
      }),
  };
  return { holders: setHolders({ peers, clock }), waits, calls };
}

const QUESTIONS = {
  'who could decide': ({ of }: ReturnType<typeof setHolders>) =>
    of({ ...ASKED, needed: 1, excludedUserId: undefined }),
  'how a person stands': ({ standing }: ReturnType<typeof setHolders>) =>
    standing({ ...ASKED, userIds: ['ann'] }),
  'which sets a person holds': ({ heldBy }: ReturnType<typeof setHolders>) =>
    heldBy({ tenantId: 't', userId: 'ann', sets: [SET] }),
};

describe('approval 25 of a set', () => {
  it.each(
    Object.entries(QUESTIONS).flatMap(([name, ask]) =>
      (['authz', 'identity'] as const).map((peer) => ({ name, ask, peer })),
    ),
  )('$name waits 2 s for $peer and no longer', async ({ ask, peer }) => {
    const { holders, waits } = world([peer]);
    let isOver = false;
    const asking = Promise.resolve(ask(holders)).finally(() => {
      isOver = true;
    });
    asking.catch(() => {}); // The promise is awaited below.
    await new Promise((resolve) => setImmediate(resolve));
    expect([waits.at(-1)?.ms, isOver]).toEqual([2_000, false]);
    waits.at(-1)?.end();
    await expect(asking).rejects.toThrow(PeerUnavailable);
  });

  it('no answer is kept: each question asks both once more', async () => {
    const { holders, calls } = world([]);
    for (const ask of Object.values(QUESTIONS)) {
      const before = calls.length;
      await ask(holders);
      const once = calls.length - before;
      await ask(holders);
      expect([once, calls.length - before]).toEqual([2, 4]);
    }
  });
});
