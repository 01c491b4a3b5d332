import { authzService } from '@cardea/authz';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf } from './fga-client.ts';

const database = testDatabase();
let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: [authzService] });
});
afterAll(async () => {
  await fixture?.stop();
});

const eventsOf = async (tenantId: string) => {
  const events = await fixture.host.needsOf('authz').store.readLog('authz', 0n, 100_000);
  return events.filter((event) => event.metadata.tenantId === tenantId);
};

describe('a tuple whose stream cannot be followed', () => {
  it('authz 19 grants nothing, and the rest answers', async () => {
    const fga = adminOf(fixture, 'parked');
    await fga.write('user:ann viewer document:bad');
    await fga.write('user:ann viewer document:good');
    expect(await fga.allows('user:ann viewer document:bad')).toBe(true);

    const { store } = fixture.host.needsOf('authz');
    const [written] = await eventsOf('parked');
    if (written === undefined) throw new Error('nothing was written');
    await store.append([
      {
        streamId: written.streamId,
        expected: 'any',
        events: [{ ...written, id: crypto.randomUUID(), data: { relation: 'of another release' } }],
      },
    ]);

    await untilTrue(async () => !(await fga.allows('user:ann viewer document:bad')));
    expect(await fga.allows('user:ann viewer document:good')).toBe(true);
    await untilTrue(async () => (await fga.list()).body.tuples.length === 1);
    await fga.write('user:bob viewer document:good');
    expect(await fga.allows('user:bob viewer document:good')).toBe(true);
    expect(await fga.allows('user:ann viewer document:bad')).toBe(false);
  });
});

describe('a principal that identity deleted', () => {
  it('authz 20 is named by no tuple any more, once the news came, even twice', async () => {
    const fga = adminOf(fixture, 'deleted');
    const kept = ['user:bob viewer document:d', 'agent:ann viewer document:d'];
    const gone = [
      'user:ann viewer document:d',
      'user:ann member group:g',
      'group:g viewer user:ann',
    ];
    for (const name of [...kept, ...gone]) await fga.write(name);
    const news = {
      id: crypto.randomUUID(),
      source: 'identity',
      type: 'user.deleted',
      tenantId: 'deleted',
      streamId: 'user-ann',
      data: { id: 'ann', deleted_at: new Date().toISOString() },
    } as const;
    await fixture.publish(news);
    await fixture.publish(news);
    await untilTrue(async () => (await fga.list()).body.total === kept.length);
    for (const name of gone) expect(await fga.allows(name)).toBe(false);
    for (const name of kept) expect(await fga.allows(name)).toBe(true);
    const deletions = (await eventsOf('deleted')).filter(({ type }) => type === 'TupleDeleted');
    expect(deletions.map(({ metadata }) => metadata.actor)).toEqual(
      Array(gone.length).fill({ type: 'system', id: 'authz' }),
    );

    await fga.write('user:ann viewer document:d');
    expect(await fga.allows('user:ann viewer document:d')).toBe(true);
  });

  it('authz 20 takes more tuples with it than fit on a page, and a tenant takes all', async () => {
    const fga = adminOf(fixture, 'many');
    const names = Array.from({ length: 300 }, (_, at) => `agent:a viewer document:${at}`);
    await Promise.all(names.map((name) => fga.write(name)));
    await fga.write('user:bob viewer document:1');
    const deleted = (type: string, id: string) =>
      fixture.publish({
        source: 'identity',
        type,
        tenantId: 'many',
        streamId: `${type}-${id}`,
        data: { id, deleted_at: new Date().toISOString() },
      });
    await deleted('agent.deleted', 'a');
    await untilTrue(async () => (await fga.list()).body.total === 1);
    await deleted('tenant.deleted', 'many');
    await untilTrue(async () => (await fga.list()).body.total === 0);
    expect(await fga.allows('user:bob viewer document:1')).toBe(false);
  });
});
