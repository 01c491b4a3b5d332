/** Events recorded before `vouched` existed are read in the current form by every consumer. */
import { readFile } from 'node:fs/promises';
import type { RecordedEvent } from '@cardea/event-store';
import { followedIndex } from '@cardea/log-follower';
import { silentLogger, untilTrue } from '@cardea/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { exists, users } from '../src/accounts/users/user.ts';
import { identityOfFile } from './identity-fixture.ts';

const { fixture, admin: ann } = identityOfFile();
let id: string;
beforeAll(async () => {
  const { ids, clock, store } = fixture.host.needsOf('identity');
  const file = await readFile(new URL('user-registered-v1.json', import.meta.url), 'utf8');
  const { metadata, ...recorded } = JSON.parse(file);
  id = recorded.data.id;
  const event = {
    ...recorded,
    id: ids.next(),
    time: clock.now(),
    metadata: { ...metadata, tenantId: ann.tenantId },
  };
  await store.append([{ streamId: `user-${id}`, expected: 0, events: [event] }]);
});

const needs = () => fixture.host.needsOf('identity');

describe('an event of the first version', () => {
  it('stands in the log as it was recorded', async () => {
    const { rows } = await needs().database.system.query<{ version: number; data: object }>(
      `SELECT schema_version AS version, data FROM eventstore.events
       WHERE stream_id = $1 AND type = 'UserRegistered'`,
      [`user-${id}`],
    );
    expect(rows).toEqual([{ version: 1, data: expect.not.objectContaining({ vouched: true }) }]);
  });

  it('is decided on as of today', async () => {
    const { state } = await needs().streams.load(users, { tenantId: ann.tenantId, id });
    expect(exists(state) && state.vouched).toBe(true);
  });

  it('is projected as of today', async () => {
    const row = await untilTrue(
      async () => {
        const { rows } = await needs().database.system.query<{ vouched: boolean }>(
          'SELECT vouched FROM identity.users WHERE id = $1',
          [id],
        );
        return rows[0];
      },
      { what: 'the user has a row' },
    );
    expect(row.vouched).toBe(true);
  });

  it('is answered by a policy that asks in which version it was recorded', async () => {
    const announced = async () =>
      (await needs().store.readStream(`user-${id}`)).filter(({ type }) => type === 'UserVouched');
    await untilTrue(async () => (await announced()).length > 0, { what: 'it is announced' });
    expect(await announced()).toHaveLength(1);
  });

  it('is relayed as of today', async () => {
    const told = await untilTrue(
      async () => {
        const { rows } = await needs().database.system.query<{ vouched: string }>(
          `SELECT value -> 'data' ->> 'vouched' AS vouched FROM bus.records
           WHERE value ->> 'type' = 'user.created' AND value -> 'data' ->> 'id' = $1`,
          [id],
        );
        return rows[0];
      },
      { what: 'it is on the topic' },
    );
    expect(told.vouched).toBe('true');
  });

  it('reaches an index in memory as of today', async () => {
    const { store, clock, loops } = needs();
    const taken: RecordedEvent[] = [];
    const stop = new AbortController();
    const index = followedIndex({
      ...{ name: 'users', store, clock, log: silentLogger },
      start: async () => 0n,
      take: (event) => taken.push(event),
    });
    const running = index.run(stop.signal, loops.watch('users'));
    expect(await index.reached(await store.head('identity'), 10_000)).toBe(true);
    stop.abort();
    await running;
    expect(taken.find(({ streamId }) => streamId === `user-${id}`)).toMatchObject({
      recordedVersion: 1,
      schemaVersion: 2,
      data: { id, vouched: true },
    });
  });
});
