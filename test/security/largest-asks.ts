/** The largest requests that cannot be derived from a schema, since their values have to exist or to fit a model. */
import type { Fortress } from './fortress.ts';
import type { Ask } from './sample.ts';
import { expectStatus } from './users.ts';

const FIELDS = 50;
const VALUE_BYTES = 64 * 1024;
const CHANGES = 100;
const ID_BYTES = 1_024;
const TYPES = 200;
/** A model may have 500 relations: each type has two, and "user" none. */
const RELATIONS_OF_TYPE = 2;

const byOwner = ({ a }: Fortress) => ({ tenant: a.tenantId, bearer: a.owner.access });
const numbered = (length: number, nameOf: (number: number) => string): readonly string[] =>
  Array.from({ length }, (_, number) => nameOf(number));

async function secrets(world: Fortress): Promise<Ask> {
  const name = 'largest-secrets';
  const names = numbered(FIELDS, (number) => `field_${number}`);
  const service = {
    name,
    credential_type: 'static',
    fields: names.map((each) => ({ name: each })),
  };
  expectStatus(await world.rest.post('/api/v1/vault/services', service, byOwner(world)), 201);
  const values = names.map((each) => [each, 'x'.repeat(VALUE_BYTES)]);
  return { params: { name }, body: { fields: Object.fromEntries(values) } };
}

const tuple = (object_id: string) => ({
  user_type: 'user',
  user_id: 'u'.repeat(ID_BYTES),
  relation: 'viewer',
  object_type: 'doc',
  object_id,
});
const longTuples = numbered(CHANGES, (number) => String(number).padStart(ID_BYTES, 'o')).map(tuple);

async function model(world: Fortress): Promise<Ask> {
  const { body } = await world.rest.get('/api/v1/fga/model', byOwner(world));
  const names = numbered(TYPES - 3, (number) => `type${number}`);
  const relations = Object.fromEntries(
    numbered(RELATIONS_OF_TYPE, (number) => `relation${number}`).map((each) => [
      each,
      { direct: ['user', 'group'] },
    ]),
  );
  const types = {
    user: {},
    group: { relations: { member: { direct: ['user'] } } },
    doc: { relations: { viewer: { direct: ['user', 'group'] } } },
    ...Object.fromEntries(names.map((name) => [name, { relations }])),
  };
  return { body: { expected_version: body.version, types } };
}

export const LARGEST_ASKS: {
  readonly [operation: string]: (world: Fortress) => Ask | Promise<Ask>;
} = {
  write_secrets: secrets,
  change_tuples: () => ({ body: { writes: longTuples } }),
  fga_check_batch: () => ({ body: { checks: longTuples } }),
  publish_model: model,
};
