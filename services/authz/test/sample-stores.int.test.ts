/** Models of OpenFGA's public samples, imported, give the answers that the samples state. */
import { authzService } from '@cardea/authz';
import { type ServiceFixture, serviceFixture, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NotImportable } from '../src/importers/expression.ts';
import { typesOfOpenFga } from '../src/importers/openfga.ts';
import type { Types } from '../src/relations/rules.ts';
import { adminOf, type FgaClient } from './fga-client.ts';
import {
  type SampleStore,
  type StoreTest,
  sampleStores,
  type Tuple,
  type UserFilter,
} from './sample-stores.ts';

const BATCH_MAX = 100;
const stores = await sampleStores();
const all = 'missing' in stores ? [] : stores;

const database = testDatabase();
let memory: ServiceFixture;
let table: ServiceFixture;
beforeAll(async () => {
  const options = { databaseUrl: database.url, definitions: [authzService] };
  memory = await serviceFixture(options);
  table = await serviceFixture({ ...options, env: { AUTHZ_INDEX_MAX_BYTES: '0' } });
});
afterAll(async () => {
  await memory?.stop();
  await table?.stop();
});

/** `team:core#member` is the subject of type `team#member`. */
function subjectOf(user: string) {
  const [type = '', rest = ''] = user.split(/:(.*)/s);
  const [id = '', relation] = rest.split('#');
  return { user_type: relation === undefined ? type : `${type}#${relation}`, user_id: id };
}
function objectOf(object: string) {
  const [object_type = '', object_id = ''] = object.split(/:(.*)/s);
  return { object_type, object_id };
}

async function prepare(tenant: string, types: Types, tuples: readonly Tuple[]): Promise<void> {
  const fga = adminOf(memory, tenant);
  const made = await fga.rest.put('/api/v1/fga/model', { expected_version: 0, types });
  expect([made.status, made.body]).toEqual([200, { version: 1, types }]);
  for (let start = 0; start < tuples.length; start += BATCH_MAX) {
    const writes = tuples
      .slice(start, start + BATCH_MAX)
      .map(({ user, relation, object }) => ({ ...subjectOf(user), relation, ...objectOf(object) }));
    const { status, body } = await fga.rest.post('/api/v1/fga/tuples/batch', { writes });
    expect([status, body.error]).toEqual([200, undefined]);
  }
}

async function expectAnswers(fga: FgaClient, test: StoreTest): Promise<number> {
  let count = 0;
  const ask = async (what: string, body: object) => {
    count += 1;
    const answer = await fga.rest.post(`/api/v1/fga/${what}`, body);
    expect([body, answer.status]).toEqual([body, 200]);
    return answer.body;
  };
  for (const {
    user,
    users = [user ?? ''],
    object,
    objects = [object ?? ''],
    assertions,
  } of test.check ?? []) {
    for (const [relation, allowed] of Object.entries(assertions)) {
      for (const [one, other] of users.flatMap((each) =>
        objects.map((to) => [each, to] as const),
      )) {
        const body = { ...subjectOf(one), relation, ...objectOf(other) };
        expect({ body, allowed: (await ask('check', body)).allowed }).toEqual({ body, allowed });
      }
    }
  }
  for (const { user, type, assertions } of test.list_objects ?? []) {
    for (const [relation, objects] of Object.entries(assertions)) {
      const { object_ids } = await ask('list-objects', {
        ...subjectOf(user),
        relation,
        object_type: type,
      });
      const listed = object_ids.map((id: string) => `${type}:${id}`);
      expect({ user, relation, listed }).toEqual({
        user,
        relation,
        listed: [...(objects ?? [])].toSorted(),
      });
    }
  }
  const usersOf = async (object: string, relation: string, filter: UserFilter) => {
    const suffix = filter.relation === undefined ? '' : `#${filter.relation}`;
    const body = { user_type: `${filter.type}${suffix}`, relation, ...objectOf(object) };
    const { user_ids, wildcard } = await ask('list-users', body);
    const ids = wildcard ? [...user_ids, '*'] : user_ids;
    return ids.map((id: string) => `${filter.type}:${id}${suffix}`);
  };
  for (const { object, user_filter, assertions } of test.list_users ?? []) {
    for (const [relation, { users }] of Object.entries(assertions)) {
      const found = await Promise.all(user_filter.map((each) => usersOf(object, relation, each)));
      const expected = { object, relation, listed: [...(users ?? [])].toSorted() };
      expect({ object, relation, listed: found.flat().toSorted() }).toEqual(expected);
    }
  }
  return count;
}

function importedOf({ model }: SampleStore): Types | undefined {
  try {
    return typesOfOpenFga(model);
  } catch (error) {
    if (error instanceof NotImportable) return undefined;
    throw error;
  }
}

describe('authz 23 a model that OpenFGA shows as a sample', () => {
  it.runIf('missing' in stores)(
    `is not there: ${'missing' in stores ? stores.missing : ''}`,
    (context) => context.skip(),
  );

  it.each(all.map((store) => [store.name, store] as const))(
    '%s answers as it says',
    async (name, store) => {
      const types = importedOf(store);
      // Models with conditions are refused, and only those.
      expect([name, types === undefined]).toEqual([name, /^\s*condition /m.test(store.model)]);
      if (types === undefined) return;
      let count = 0;
      for (const [at, test] of store.tests.entries()) {
        const tenant = `${name.replaceAll(/[^a-z0-9]+/g, '-')}-${at}`;
        await prepare(tenant, types, [...store.tuples, ...(test.tuples ?? [])]);
        for (const fixture of [memory, table])
          count += await expectAnswers(adminOf(fixture, tenant), test);
      }
      console.log(`${name}: ${count} questions`);
    },
  );
});
