/** The part of the suite for appends that depend on other streams. All adapters run it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventStore } from '@cardea/event-store';
import { expect, it } from 'vitest';
import { type EventStoreFixture, newAppend, newEvent, newStream } from './store-fixture.ts';

type Stores = () => { readonly store: EventStore; readonly other: EventStore };

/** The writers on each side of the race below, and the most appends of each. */
const RIVALS = 8;
const RIVAL_ROUNDS = 12;

export function describeBasis(fixture: () => EventStoreFixture, stores: Stores): void {
  it('refuses an append that rests on a stream which has changed, and nothing beside it', async () => {
    const { store, other } = stores();
    const [basis, second, absent] = [newStream(), newStream(), newStream()];
    await other.append([newAppend(basis), newAppend(second)]);
    const on = (...restsOn: { streamId: string; revision: number }[]) => ({
      ...newAppend(),
      restsOn,
    });
    const held = on({ streamId: basis, revision: 1 }, { streamId: absent, revision: 0 });
    const [fresh, grown, missing] = [
      on({ streamId: basis, revision: 0 }),
      on({ streamId: second, revision: 1 }, { streamId: basis, revision: 2 }),
      on({ streamId: absent, revision: 1 }),
    ];
    const later = { ...newAppend(second, 1), restsOn: [{ streamId: basis, revision: 3 }] };
    expect(await store.append([held, fresh, newAppend(), grown, missing, later])).toMatchObject([
      { appended: true, revision: 1 },
      { appended: false, actualRevision: 0 },
      { appended: true },
      { appended: false, actualRevision: 0 },
      { appended: false, actualRevision: 0 },
      { appended: false, actualRevision: 1 },
    ]);
    for (const { streamId } of [fresh, grown, missing]) {
      expect(await store.readStream(streamId)).toEqual([]);
    }
    const again = { ...later, restsOn: [{ streamId: basis, revision: 1 }] };
    expect(await store.append([again])).toMatchObject([{ appended: true, revision: 2 }]);
    expect(await store.append([{ ...fresh, restsOn: [] }])).toMatchObject([{ appended: true }]);
  });

  it('answers a repeat by its first place, whatever has become of its basis', async () => {
    const { store, other } = stores();
    const basis = newStream();
    const append = { ...newAppend(), restsOn: [{ streamId: basis, revision: 0 }] };
    const [first] = await store.append([append]);
    await other.append([newAppend(basis)]);
    const position = first?.appended && first.position;
    expect(await store.append([append])).toMatchObject([{ repeated: true, position }]);
  });

  it('lets no append pass that rests on what a rival has changed before it', async (test) => {
    const { store, other } = stores();
    test.skip(!fixture().holdsBasis, 'its server knows no such condition');
    const basis = newStream();
    let appended = 0;
    const changing = Array.from({ length: RIVAL_ROUNDS }, async (_, revision) => {
      while ((await other.readLast(basis))?.revision !== (revision || undefined)) await nextTurn();
      await other.append([newAppend(basis, revision)]);
    });
    const resting = Array.from({ length: RIVALS }, async (_, rival) => {
      for (let round = 0; round < RIVAL_ROUNDS; round += 1) {
        const revision = (await store.readLast(basis))?.revision ?? 0;
        const own = { ...newAppend(), events: [newEvent({ rival, revision })] };
        const [outcome] = await store.append([
          { ...own, restsOn: [{ streamId: basis, revision }] },
        ]);
        if (outcome?.appended) appended += 1;
      }
    });
    await Promise.all([...changing, ...resting]);
    let now = 0;
    let held = 0;
    for (const event of await store.readLog('identity', 0n, 100_000)) {
      if (event.streamId === basis) now = event.revision;
      else if (event.data['rival'] !== undefined) {
        expect(event.data['revision']).toBe(now);
        held += 1;
      }
    }
    expect([now, held]).toEqual([RIVAL_ROUNDS, appended]);
  });
}
