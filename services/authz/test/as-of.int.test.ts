/** Questions about an earlier time: `docs/design/authz.md`, Questions about an earlier moment. */
import { authzService } from '@cardea/authz';
import { type Clock, systemClock } from '@cardea/runtime';
import {
  type RestAnswer,
  type ServiceFixture,
  seededRandom,
  serviceFixture,
  testDatabase,
  testForm,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finished, type TupleIndex } from '../src/engine/tuple-index.ts';
import type { Fields } from '../src/relations/relation.ts';
import { adminOf, type FgaClient, fgaClient, tuple } from './fga-client.ts';
import { naiveIndex } from './naive-index.ts';

const CHANGES = 60;
/** How far the wall clock of the process jumps between two changes. */
const JUMP_MS = { back: 1_500, on: 2_000 };
/** Shorter than the lifetime of tokens. */
const MINUTES_MS = 600_000;
const PATH = '/api/v1/fga';

let aheadMs = 0;
const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
const database = testDatabase();
let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: [authzService], clock });
});
afterAll(async () => {
  await fixture?.stop();
});

const ask = (fga: FgaClient, what: string, body: object): Promise<RestAnswer> =>
  fga.rest.post(`${PATH}/${what}`, body);
const atMoment = (as_of: string) => ({ as_of });
const now = (): string => clock.now().toISOString();

describe('authz 23 as_of', () => {
  it('answers as a replay of the log up to that moment, however the clock jumped', async () => {
    const fga = adminOf(fixture, 'replayed');
    const random = seededRandom(String(testForm.seed));
    const draw = (below: number): number => random.bytes(4).readUInt32BE() % below;
    const ids = ['a', 'b'];
    const anyTuple = (): Fields => {
      const [subject, relation, object] = [
        ['user', 'viewer', 'document'],
        ['user', 'member', 'group'],
        ['group', 'editor', 'folder'],
        ['folder', 'parent', 'document'],
      ][draw(4)] as [string, Fields['relation'], string];
      const user_id = ids[draw(2)] as string;
      const object_id = ids[draw(2)] as string;
      return { user_type: subject, user_id, relation, object_type: object, object_id };
    };
    for (let change = 0; change < CHANGES; change++) {
      aheadMs += draw(JUMP_MS.back + JUMP_MS.on) - JUMP_MS.back;
      if (draw(3) === 0) await fga.delete(anyTuple());
      else await fga.write(anyTuple());
    }
    aheadMs += MINUTES_MS;
    const events = (await fixture.host.needsOf('authz').store.readLog('authz', 0n, 1_000)).filter(
      ({ streamId, metadata }) => streamId.startsWith('tuple-') && metadata.tenantId === 'replayed',
    );
    expect(events.some((event, at) => at > 0 && event.time < (events[at - 1]?.time ?? 0))).toBe(
      true,
    );

    /** The state before the first event that is later than the given time. */
    const replayed = (moment: Date): TupleIndex => {
      const index = naiveIndex();
      for (const { time, type, data } of events) {
        if (time > moment) break;
        const fields = data as unknown as Fields;
        if (type === 'TupleWritten') index.write(fields);
        else index.delete(fields);
      }
      return index;
    };
    const user = { user_type: 'user', user_id: 'a' };
    const document = { object_type: 'document', object_id: 'a' };
    for (const { time } of events) {
      for (const moment of [new Date(time.getTime() - 1), time]) {
        const index = replayed(moment);
        const as_of = moment.toISOString();
        const check: Fields = { ...user, relation: 'can_write', ...document };
        const question = { ...user, relation: 'viewer' as const, object_type: 'document' };
        const whom = { ...document, relation: 'viewer' as const, user_type: 'user' };
        const [checked, filtered, objects, users] = await Promise.all([
          ask(fga, 'check', { ...check, as_of }),
          ask(fga, 'filter', { ...question, object_ids: ids, as_of }),
          ask(fga, 'list-objects', { ...question, as_of }),
          ask(fga, 'list-users', { ...whom, as_of }),
        ]);
        expect(checked.body).toEqual({ ...finished(index.check(check)), as_of });
        const isAllowed = finished(index.filter(question, ids));
        const allowed = ids.filter((_, at) => isAllowed[at]);
        expect(filtered.body).toMatchObject({ allowed_ids: allowed, as_of });
        const listed = [...finished(index.listObjects(question))];
        expect(objects.body).toEqual({ object_ids: listed, total: listed.length, as_of });
        const { ids: user_ids, wildcard } = finished(index.listUsers(whom));
        expect(users.body).toEqual({ user_ids, wildcard, total: user_ids.length, as_of });
      }
    }
  });

  it('explains a path of tuples that are gone, and follows both of an agent and its user', async () => {
    const fga = adminOf(fixture, 'explained');
    const { body: written } = await fga.write('user:ann viewer document:d');
    await fga.write('agent:bot viewer document:d');
    const then = now();
    // Events in the same millisecond count as at that time, so this waits.
    await clock.sleep(2);
    await fga.delete('user:ann viewer document:d');
    const asked = { ...tuple('user:ann viewer document:d'), ...atMoment(then) };
    const { body } = await fga.rest.post(`${PATH}/check`, asked, { query: { explain: 'true' } });
    expect(body).toMatchObject({ allowed: true, path: [written] });
    const both = {
      ...tuple('agent:bot viewer document:d'),
      on_behalf_of: { user_type: 'user', user_id: 'ann' },
    };
    expect((await ask(fga, 'check', { ...both, ...atMoment(then) })).body.allowed).toBe(true);
    expect((await ask(fga, 'check', { ...both, ...atMoment(now()) })).body.allowed).toBe(false);
    expect((await fga.check(both)).body).not.toHaveProperty('as_of');
  });

  it('has what was written just before', async () => {
    const fga = adminOf(fixture, 'just-before');
    for (let at = 0; at < 20; at++) {
      await fga.write(`user:ann viewer document:${at}`);
      const asked = { ...tuple(`user:ann viewer document:${at}`), ...atMoment(now()) };
      expect((await ask(fga, 'check', asked)).body.allowed).toBe(true);
    }
  });

  it('shows one tenant nothing of another', async () => {
    await adminOf(fixture, 'mine').write('user:ann viewer document:d');
    const asked = { ...tuple('user:ann viewer document:d'), ...atMoment(now()) };
    expect((await ask(adminOf(fixture, 'theirs'), 'check', asked)).body.allowed).toBe(false);
  });

  it.each([
    ['a moment to come', () => new Date(clock.now().getTime() + MINUTES_MS).toISOString(), 'past'],
    ['no moment', () => 'yesterday', 'format'],
  ])('refuses %s', async (_, moment, rule) => {
    const asked = { ...tuple('user:ann viewer document:d'), as_of: moment() };
    const { status, body } = await ask(adminOf(fixture, 'refused'), 'check', asked);
    expect(status).toBe(400);
    expect(body.error.details).toEqual([{ field: 'as_of', rule }]);
  });

  it('is for admins, and for keys that read', async () => {
    const tenantId = 'allowed';
    const { tokens, rest } = fixture;
    const asked = { ...tuple('user:ann viewer document:d'), ...atMoment(now()) };
    const { user_id: __, ...whom } = asked;
    const { object_id: ___, ...question } = asked;
    const bodies = {
      check: asked,
      filter: { ...question, object_ids: ['d'] },
      'list-objects': question,
      'list-users': whom,
    };
    for (const [what, body] of Object.entries(bodies)) {
      const by = async (bearer: string) =>
        (await ask(fgaClient(rest.as({ tenant: tenantId, bearer })), what, body)).status;
      expect(await by(tokens.user({ tenantId, id: 'member', roles: ['member'] }))).toBe(403);
      const sessionId = 'session';
      expect(await by(tokens.agent({ tenantId, id: 'bot', sessionId, userId: 'admin' }))).toBe(403);
      expect(await by(tokens.apiKey({ tenantId, scopes: ['fga:read'] }))).toBe(200);
      expect(await by(tokens.user({ tenantId, id: 'boss', roles: ['admin'] }))).toBe(200);
    }
  });
});
