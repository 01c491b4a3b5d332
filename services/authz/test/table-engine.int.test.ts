/** Answers from the table equal those of the index and of the naive loops. */
import { readFileSync } from 'node:fs';
import { authzService } from '@cardea/authz';
import { type ServiceFixture, serviceFixture, testDatabase } from '@cardea/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkFor } from '../src/engine/on-behalf-of.ts';
import { finished, type TupleIndex } from '../src/engine/tuple-index.ts';
import { fieldsOf, type Fields as Question, RELATIONS } from '../src/relations/relation.ts';
import { adminOf, type FgaClient, type Fields, tuple } from './fga-client.ts';
import { naiveIndex } from './naive-index.ts';

const GRAPHS = 60;
const NO_MEMORY = { AUTHZ_INDEX_MAX_BYTES: '0' };

type Case = { name: string; tuples: Fields[]; checks: (Fields & { expect: boolean })[] };
const cases: Case[] = JSON.parse(
  readFileSync(new URL('data/fga-semantics-cases.json', import.meta.url), 'utf8'),
);

const database = testDatabase();
let fixture: ServiceFixture;
/** A service with the same tuples that answers from memory. */
let memory: ServiceFixture;
beforeAll(async () => {
  const options = { databaseUrl: database.url, definitions: [authzService] };
  fixture = await serviceFixture({ ...options, env: NO_MEMORY });
  memory = await serviceFixture(options);
});
afterAll(async () => {
  await fixture?.stop();
  await memory?.stop();
});

const BATCH_MAX = 100;
/** Writes all tuples. Returns a token with which another process answers no older than the last of them. */
async function writeAll(fga: FgaClient, all: readonly Fields[]): Promise<string> {
  let token = '';
  const writes = [...new Map(all.map((fields) => [JSON.stringify(fields), fields])).values()];
  for (let start = 0; start < writes.length; start += BATCH_MAX) {
    const part = writes.slice(start, start + BATCH_MAX);
    const { body, headers } = await fga.rest.post('/api/v1/fga/tuples/batch', { writes: part });
    const created = body.written.map(({ status }: { status: string }) => status);
    expect(created).toEqual(part.map(() => 'created'));
    token = headers.get('x-service-consistency') ?? '';
  }
  return token;
}

/** Asks every possible question to both engines and to the naive loops. */
async function compareAll(
  { rest }: FgaClient,
  oracle: TupleIndex,
  of: { readonly asked: readonly Question[]; readonly token: string },
): Promise<void> {
  const { asked } = of;
  const ask = async (path: string, body: object, query = {}) => {
    const headers = { 'x-service-consistency': of.token };
    const answer = await rest.post(`/api/v1/fga/${path}`, body, { headers, query });
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.body;
  };
  const { results } = await ask('check/batch', { checks: asked });
  expect(results).toEqual(asked.map((fields) => finished(oracle.check(fields))));
  for (const [at, fields] of asked.slice(0, 4).entries()) {
    const { object_id, ...question } = fields;
    const { user_id: _, ...users } = fields;
    const { user_type, user_id } = asked[at + 4] as Question;
    const both = { ...fields, on_behalf_of: { user_type, user_id } };
    const ids = ['a', object_id, '\u{10000}', 'unknown', object_id];
    const [filter, objects, listed, explained, checked] = await Promise.all([
      ask('filter', { ...question, object_ids: ids }),
      ask('list-objects', question),
      ask('list-users', users),
      ask('check', fields, { explain: 'true' }),
      ask('check', both),
    ]);
    const allowed = finished(oracle.filter(question, ids));
    expect(filter.allowed_ids).toEqual(ids.filter((_id, place) => allowed[place]));
    expect(objects.object_ids).toEqual(finished(oracle.listObjects(question)));
    const { user_ids, wildcard } = listed;
    expect({ ids: user_ids, wildcard }).toEqual(finished(oracle.listUsers(users)));
    expect(plain(explained)).toEqual(plain(finished(oracle.explain(fields))));
    expect(checked).toEqual(finished(checkFor(oracle, both, oracle.run())));
  }
}

type Explanation = { readonly path?: readonly Question[]; readonly held?: readonly Question[] };
/** Removes the ids and times of tuples, which only the table has. */
const plain = ({ path, held, ...checked }: Explanation) => ({
  ...checked,
  ...(path && { path: path.map(fieldsOf) }),
  ...(held && { held: held.map(fieldsOf) }),
});

describe('answers from the table', () => {
  it.each(cases)('authz 1 $name', async ({ name, tuples, checks }) => {
    const fga = adminOf(fixture, name.replace('/', '-'));
    await writeAll(fga, tuples);
    const asked = checks.map(({ expect: _, ...fields }) => fields);
    const { body } = await fga.rest.post('/api/v1/fga/check/batch', { checks: asked });
    const allowed = body.results.map((result: { allowed: boolean }) => result.allowed);
    expect(allowed).toEqual(checks.map((check) => check.expect));
  });

  it('authz 2, 5, 23 are those of memory and of the naive loops on any small graph, reasons included', async () => {
    const node = (types: readonly string[]) =>
      fc.tuple(fc.constantFrom(...types), fc.constantFrom('a', 'b', '\u{10000}', '\ue000'));
    const anyFields = fc
      .record({
        subject: fc.oneof(
          node(['user', 'group', 'agent', 'folder']),
          fc.constantFrom(['user', '*'] as const, ['group', '*'] as const),
        ),
        relation: fc.constantFrom(...RELATIONS, 'member', 'parent', 'member'),
        object: node(['group', 'folder', 'document']),
      })
      .filter(({ subject, relation }) => subject[1] !== '*' || relation !== 'parent')
      .map(({ subject, relation, object }) => ({
        user_type: subject[0],
        user_id: subject[1],
        relation: relation as (typeof RELATIONS)[number],
        object_type: object[0],
        object_id: object[1],
      }));
    const graph = fc.array(anyFields, { minLength: 1, maxLength: 18 });
    const questions = fc.array(anyFields, { minLength: 10, maxLength: 10 });
    let made = 0;
    await fc.assert(
      fc.asyncProperty(graph, questions, async (tuples, asked) => {
        made += 1;
        const fga = adminOf(fixture, `graph-${made}`);
        const oracle = naiveIndex();
        for (const fields of tuples) oracle.write(fields);
        const token = await writeAll(fga, tuples);
        await compareAll(fga, oracle, { asked, token });
        await compareAll(adminOf(memory, `graph-${made}`), oracle, { asked, token });
      }),
      { numRuns: GRAPHS },
    );
  });

  it('authz 8 are never from before what the same process acknowledged', async () => {
    const fga = adminOf(fixture, 'own-writes');
    for (let at = 0; at < 50; at++) {
      const name = `user:ann viewer document:${at}`;
      await fga.write(name);
      expect(await fga.allows(name)).toBe(true);
      await fga.delete(name);
      expect(await fga.allows(name)).toBe(false);
    }
  });

  it('authz 15 are those of one tenant alone', async () => {
    const [one, other] = [adminOf(fixture, 'one'), adminOf(fixture, 'other')];
    await one.write('user:ann viewer document:d');
    expect(await one.allows('user:ann viewer document:d')).toBe(true);
    expect(await other.allows('user:ann viewer document:d')).toBe(false);
    const { object_id: _, ...question } = tuple('user:ann viewer document:d');
    const { body } = await other.rest.post('/api/v1/fga/list-objects', question);
    expect(body).toEqual({ object_ids: [], total: 0 });
  });
});
