/** Tests the key ring with two processes on one log, with notifications between them over the cache. */
import { type DerivedKeys, inMemorySubjectKeys, sealer, wrapKeys } from '@cardea/crypto';
import { type EventStore, EventStoreUnavailable, streams } from '@cardea/event-store';
import {
  type Cache,
  inProcessCache,
  metrics,
  secret,
  systemClock,
  uuidFrom,
} from '@cardea/runtime';
import { inMemoryEventStore, inMemoryLogs, silentLogger, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type SigningKeys, signingKeys } from './signing-keys.ts';

const SECRETS = {
  ENCRYPTION_KEY: secret('ab12'.repeat(16)),
  ENCRYPTION_KEY_PREVIOUS: undefined,
};
const keys = wrapKeys(SECRETS, 'subject-wrap/v1');

const keysOf = (current: number, previous?: number): DerivedKeys => ({
  current: Buffer.alloc(32, current),
  previous: previous === undefined ? undefined : Buffer.alloc(32, previous),
});

function deployment() {
  const store = inMemoryEventStore('identity', inMemoryLogs());
  const table = inMemorySubjectKeys();
  let isAway = false;
  const breakable: EventStore = {
    ...store,
    readStreams: async (...given) => {
      if (isAway) throw new EventStoreUnavailable('away');
      return store.readStreams(...given);
    },
  };
  const replica = async (cache: Cache, kek: DerivedKeys = keysOf(7)): Promise<SigningKeys> => {
    const made = signingKeys({
      streams: streams(breakable),
      sealer: sealer({ table, keys, clock: systemClock }),
      log: silentLogger,
      cache,
      clock: systemClock,
      rotateAfterMs: 90 * 24 * 3600_000,
      kek,
      systemCommand: (tenantId, ...parts) => ({
        id: uuidFrom('identity', ...parts),
        now: new Date(),
        metadata: { tenantId, actor: { type: 'system', id: 'identity' } },
      }),
    });
    await made.start();
    return made;
  };
  return {
    replica,
    goAway: () => {
      isAway = true;
    },
  };
}

const kids = ({ keys: all }: { readonly keys: readonly { readonly kid: string }[] }) =>
  all.map(({ kid }) => kid);

describe('signing keys that were revoked', () => {
  it('are given to nobody again, also by a replica that was not told', async () => {
    const { replica } = deployment();
    const one = await replica(inProcessCache(systemClock));
    const other = await replica(inProcessCache(systemClock));
    const before = kids(one.jwks());
    expect(kids(other.jwks())).toEqual(before);
    const { kid, removed } = await one.revoke();
    expect(removed.slice(0, 1)).toEqual(before);
    expect(removed).toHaveLength(3);
    expect(kids(other.jwks())).toEqual(before);
    expect(kids(await other.latestJwks())).toEqual([kid]);
  });

  it('sign nothing any more where the change was heard of', async () => {
    const { replica } = deployment();
    const cache = inProcessCache(systemClock);
    const [one, other] = [await replica(cache), await replica(cache)];
    const { kid } = await one.revoke();
    await untilTrue(() => !one.isOld() && !other.isOld());
    expect([kids(one.jwks()), kids(other.jwks())]).toEqual([[kid], [kid]]);
  });

  it('are not heard of by a replica that was stopped', async () => {
    const { replica } = deployment();
    const cache = inProcessCache(systemClock);
    const [one, other] = [await replica(cache), await replica(cache)];
    await other.stop();
    await one.revoke();
    await untilTrue(() => !one.isOld());
    expect(other.isOld()).toBe(false);
    expect(kids(other.jwks())).not.toEqual(kids(one.jwks()));
  });
});

describe('signing keys whose log is away', () => {
  it('are those that were read last', async () => {
    const { replica, goAway } = deployment();
    const one = await replica(inProcessCache(systemClock));
    const before = kids(one.jwks());
    goAway();
    expect(kids(await one.latestJwks())).toEqual(before);
  });

  it('are given to nobody once a change was heard of', async () => {
    const { replica, goAway } = deployment();
    const cache = inProcessCache(systemClock);
    const one = await replica(cache);
    goAway();
    await cache.publish('keys:changed', '');
    await untilTrue(() => one.isOld());
    await expect(one.latestJwks()).rejects.toThrow(EventStoreUnavailable);
  });
});

describe('signing keys and another JWT_SECRET', () => {
  const sealed = async (keys: SigningKeys) =>
    Promise.all((await keys.ring()).keys.map((key) => keys.sealedUnder(key)));

  it('are sealed anew under it, those that wait too, and then do without the one before', async () => {
    const { replica } = deployment();
    const before = await replica(inProcessCache(systemClock));
    const announced = await before.announce(new Date(Date.now() + 3600_000));
    const [signs, waits] = kids(await before.latestJwks());
    // Both processes can decrypt with the new secret before either encrypts with it.
    const both = await replica(inProcessCache(systemClock), keysOf(7, 8));
    expect(await sealed(both)).toEqual(Array(6).fill('current'));
    const after = await replica(inProcessCache(systemClock), keysOf(8, 7));
    expect(await sealed(after)).toEqual(Array(6).fill('current'));
    expect(await sealed(both)).toEqual(Array(6).fill('previous'));
    const alone = await replica(inProcessCache(systemClock), keysOf(8));
    expect(kids(alone.jwks())).toEqual([signs, waits]);
    expect(await alone.promote(announced)).toBe(true);
    await alone.refresh();
    expect((await alone.ring()).keys.map(({ state }) => state)).toEqual(
      Array(3).fill(['retired', 'active']).flat(),
    );
    expect(alone.sign('at+jwt', {}).split('.')).toHaveLength(3);
  });

  it('that nobody can read sign no more: another takes their place with an alarm, and they stay published', async () => {
    const { replica } = deployment();
    const [lost] = kids((await replica(inProcessCache(systemClock))).jwks());
    const counted = async () => (await metrics.signingKeysUnreadable.get()).values[0]?.value ?? 0;
    const before = await counted();
    const keys = await replica(inProcessCache(systemClock), keysOf(9));
    expect(await counted()).toBe(before + 3);
    expect((await keys.ring()).keys).toMatchObject([
      { kid: lost, state: 'retired' },
      { state: 'active' },
      ...Array(2)
        .fill([{ state: 'retired' }, { state: 'active' }])
        .flat(),
    ]);
    expect(kids(keys.jwks())[0]).toBe(lost);
  });
});
