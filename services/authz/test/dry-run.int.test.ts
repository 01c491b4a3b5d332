/** Dry runs of a batch: `docs/design/authz.md`, Dry run. */
import { authzService } from '@cardea/authz';
import { type ServiceFixture, serviceFixture, testDatabase } from '@cardea/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finished } from '../src/engine/tuple-index.ts';
import { RELATIONS } from '../src/relations/relation.ts';
import { adminOf, type FgaClient, type Fields, fgaClient, tuple } from './fga-client.ts';
import { naiveIndex } from './naive-index.ts';

const GRAPHS = 40;
const PATH = '/api/v1/fga/dry-run';

const database = testDatabase();
let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: [authzService] });
});
afterAll(async () => {
  await fixture?.stop();
});

const dryRun = (fga: FgaClient, body: object) => fga.rest.post(PATH, body);
const write = (fga: FgaClient, body: object) => fga.rest.post('/api/v1/fga/tuples/batch', body);
const text = (value: unknown): string => JSON.stringify(value);

/** Every check over nodes that some tuple names whose answer differs after the changes. */
function flipsOf(tuples: readonly Fields[], writes: readonly Fields[], deletes: readonly Fields[]) {
  const [before, after] = [naiveIndex(), naiveIndex()];
  for (const each of tuples) for (const index of [before, after]) index.write(each as never);
  for (const each of writes) after.write(each as never);
  for (const each of deletes) after.delete(each as never);
  const nodes = [...tuples, ...writes, ...deletes].flatMap((fields) => [
    [fields.user_type, fields.user_id],
    [fields.object_type, fields.object_id],
  ]);
  const known = [...new Set(nodes.map(text))].map((each) => JSON.parse(each) as [string, string]);
  return known.flatMap(([user_type, user_id]) =>
    RELATIONS.flatMap((relation) =>
      known.flatMap(([object_type, object_id]) => {
        const fields = { user_type, user_id, relation, object_type, object_id };
        const from = finished(before.allows(fields));
        const to = finished(after.allows(fields));
        return from === to ? [] : [{ ...fields, from, to }];
      }),
    ),
  );
}

describe('authz 23 dry run', () => {
  it('tells every check that the same changes then answer otherwise', {
    timeout: 300_000,
  }, async () => {
    const node = (types: readonly string[]) =>
      fc.tuple(fc.constantFrom(...types), fc.constantFrom('a', 'b', '\u{10000}'));
    const anyFields = fc
      .record({
        subject: fc.oneof(
          node(['user', 'group', 'folder']),
          fc.constantFrom(['user', '*'] as const, ['group', '*'] as const),
        ),
        relation: fc.constantFrom(
          'owner',
          'viewer',
          'can_write',
          'member',
          'member',
          'parent',
          'parent',
        ),
        object: node(['group', 'folder', 'document']),
      })
      .filter(({ subject, relation }) => relation !== 'parent' || subject[1] !== '*')
      .map(({ subject, relation, object }) => ({
        user_type: subject[0],
        user_id: subject[1],
        relation,
        object_type: object[0],
        object_id: object[1],
      }));
    const many = (length: { minLength: number; maxLength: number }) =>
      fc.uniqueArray(anyFields, { ...length, selector: text });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        many({ minLength: 1, maxLength: 14 }),
        many({ minLength: 1, maxLength: 4 }),
        fc.integer({ min: 0, max: 4 }),
        async (tuples, changed, split) => {
          const fga = adminOf(fixture, `dry-${count++}`);
          await write(fga, { writes: tuples });
          // Some existing tuples are deleted, so that deletes have an effect.
          const isGone = new Set(tuples.slice(0, split).map(text));
          const deletes = tuples.slice(0, split);
          const writes = changed.filter((fields) => !isGone.has(text(fields)));
          const { status, body } = await dryRun(fga, { writes, deletes, limit: 1_000 });
          if (writes.length + deletes.length === 0) return expect(status).toBe(400);
          const expected = flipsOf(tuples, writes, deletes);
          expect(body.flips.map(text).toSorted()).toEqual(
            expected.slice(0, 1_000).map(text).toSorted(),
          );
          expect([body.total, body.complete]).toEqual([expected.length, true]);
          const count_ = (of: (flip: Fields) => unknown) =>
            new Set(expected.map(of).map(text)).size;
          expect(body).toMatchObject({
            principals_affected: count_((flip) => [flip.user_type, flip.user_id]),
            objects_affected: count_((flip) => [flip.object_type, flip.object_id]),
          });
        },
      ),
      { numRuns: GRAPHS, endOnFailure: true },
    );
  });

  it('agrees with checks before and after the changes are made, and makes none itself', async () => {
    const fga = adminOf(fixture, 'really');
    for (const each of [
      'user:ann member group:eng',
      'group:eng editor folder:f',
      'folder:f parent document:d',
      'user:bob viewer document:d',
    ]) {
      await fga.write(each);
    }
    const changes = {
      writes: [tuple('user:cid member group:eng'), tuple('user:* viewer document:d')],
      deletes: [tuple('user:bob viewer document:d')],
    };
    const { body } = await dryRun(fga, changes);
    expect(body.total).toBeGreaterThan(0);
    const asked = (flips: Fields[]) =>
      Promise.all(
        flips.map(
          async ({ from: _, to: __, ...fields }: Fields & { from?: boolean; to?: boolean }) =>
            fga.allows(fields),
        ),
      );
    expect(await asked(body.flips)).toEqual(body.flips.map((flip: { from: boolean }) => flip.from));
    expect((await write(fga, changes)).status).toBe(200);
    expect(await asked(body.flips)).toEqual(body.flips.map((flip: { to: boolean }) => flip.to));
    expect((await dryRun(fga, changes)).body).toMatchObject({
      flips: [],
      total: 0,
      complete: true,
    });
  });

  it('looks at the relations that are asked for, and shows as many as asked for', async () => {
    const fga = adminOf(fixture, 'some');
    const writes = ['a', 'b', 'c'].map((id) => tuple(`user:${id} owner document:d`));
    const all = (await dryRun(fga, { writes })).body;
    expect([all.total, all.flips.length]).toEqual([15, 15]);
    const viewers = (await dryRun(fga, { writes, relations: ['viewer'], limit: 2 })).body;
    expect([viewers.total, viewers.flips.length]).toEqual([3, 2]);
    expect(viewers).toMatchObject({ principals_affected: 3, objects_affected: 1, complete: true });
    expect((await dryRun(fga, { writes, limit: 0 })).body.flips).toEqual([]);
  });

  it('says that it is not complete where there is more to look at than it may', async () => {
    const fga = adminOf(fixture, 'wide');
    const names = (kind: string) => Array.from({ length: 400 }, (_, at) => `${kind}:${at}`);
    const tuples = [
      ...names('user').map((user) => tuple(`${user} member group:all`)),
      ...names('document').map((document) => tuple(`folder:f parent ${document}`)),
    ];
    for (let start = 0; start < tuples.length; start += 100) {
      await write(fga, { writes: tuples.slice(start, start + 100) });
    }
    const writes = [tuple('group:all owner folder:f')];
    const { body } = await dryRun(fga, { writes, limit: 1 });
    expect(body.complete).toBe(false);
    expect(body.total).toBeGreaterThan(400);
    expect(body.flips).toHaveLength(1);
    const one = (await dryRun(fga, { writes, relations: ['viewer'], limit: 1 })).body;
    expect(one).toMatchObject({ complete: true, total: 401 * 401 });
  });

  it.each([
    ['nothing', {}],
    [
      'one tuple twice',
      { writes: [tuple('user:a viewer d:1')], deletes: [tuple('user:a viewer d:1')] },
    ],
    ['another relation', { writes: [tuple('user:a viewer d:1')], relations: ['reader'] }],
    ['too long a list', { writes: [tuple('user:a viewer d:1')], limit: 1_001 }],
    ['a wildcard object', { writes: [tuple('user:a viewer d:*')] }],
  ])('refuses %s', async (_, body) => {
    const answer = await dryRun(adminOf(fixture, 'refused'), body);
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
  });

  it('is for those who may write, and shows one tenant nothing of another', async () => {
    const tenantId = 'rights';
    const { tokens, rest } = fixture;
    const writes = [tuple('group:g viewer document:d')];
    await adminOf(fixture, 'other').write('user:ann member group:g');
    const by = (bearer: string) =>
      dryRun(fgaClient(rest.as({ tenant: tenantId, bearer })), { writes });
    expect((await by(tokens.user({ tenantId, id: 'm', roles: ['member'] }))).status).toBe(403);
    const reader = await by(tokens.apiKey({ tenantId, scopes: ['fga:read'] }));
    expect([reader.status, reader.code]).toEqual([403, 'insufficient_scope']);
    const writer = await by(tokens.apiKey({ tenantId, scopes: ['fga:write'] }));
    expect(writer.status).toBe(200);
    expect(new Set(writer.body.flips.map((flip: Fields) => flip.user_id))).toEqual(new Set(['g']));
  });
});
