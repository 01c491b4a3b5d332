/** Tenants with their own model: `docs/design/authz.md`, A tenant's own model. */
import { authzService } from '@cardea/authz';
import { type ServiceFixture, serviceFixture, testDatabase } from '@cardea/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf, type FgaClient, type Fields, fgaClient, tuple } from './fga-client.ts';
import { naiveAnswers } from './naive-model.ts';

const MODEL = '/api/v1/fga/model';
const BATCH = '/api/v1/fga/tuples/batch';
const DOCS = {
  user: {},
  group: { relations: { member: { direct: ['user', 'group#member'] } } },
  folder: { relations: { reader: { direct: ['user', 'group#member'] } } },
  doc: {
    relations: {
      in: { direct: ['folder'] },
      banned: { direct: ['user'] },
      writer: { direct: ['user'] },
      reader: {
        direct: ['user', 'user:*', 'group#member'],
        union: ['writer', { from: 'in', relation: 'reader' }],
        exclude: ['banned'],
      },
    },
  },
};

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

const put = (fga: FgaClient, types: object, expected_version = 0) =>
  fga.rest.put(MODEL, { expected_version, types });
async function tenantWith(name: string, types: object, ...tuples: string[]): Promise<FgaClient> {
  const fga = adminOf(memory, name);
  expect((await put(fga, types)).status).toBe(200);
  for (const text of tuples) expect([text, (await fga.write(text)).status]).toEqual([text, 201]);
  return fga;
}

describe('authz 23 a model', () => {
  it('is version 0 until one is published, and then the next each time', async () => {
    const fga = adminOf(memory, 'versions');
    expect((await fga.rest.get(MODEL)).body).toEqual({ version: 0, types: {} });
    expect((await put(fga, DOCS)).body).toEqual({ version: 1, types: DOCS });
    expect((await put(fga, { user: {} }, 1)).body).toEqual({ version: 2, types: { user: {} } });
    expect((await fga.rest.get(MODEL)).body).toEqual({ version: 2, types: { user: {} } });
    const late = await put(fga, DOCS, 1);
    expect([late.status, late.code]).toEqual([409, 'version_conflict']);
    expect((await adminOf(memory, 'another').rest.get(MODEL)).body.version).toBe(0);
  });

  it.each([
    ['an unknown relation', { doc: { relations: { a: { union: ['b'] } } } }],
    [
      'a relation that excludes itself',
      { user: {}, doc: { relations: { a: { direct: ['user'], exclude: ['a'] } } } },
    ],
    ['a name with a colon', { 'a:b': {} }],
    [
      'a condition',
      { user: {}, doc: { relations: { a: { direct: ['user with office_hours'] } } } },
    ],
  ])('that has %s is refused, with the place', async (_, types) => {
    const fga = adminOf(memory, 'invalid');
    const { status, code, body } = await put(fga, types);
    expect([status, code]).toEqual([422, 'model_invalid']);
    expect(body.error.details).toHaveLength(1);
    const tried = await fga.rest.post(`${MODEL}/dry-run`, { types });
    expect([tried.status, tried.code]).toEqual([422, 'model_invalid']);
    expect((await fga.rest.get(MODEL)).body.version).toBe(0);
  });

  it('with conditions is refused as a model, and what is no model as a request', async () => {
    const fga = adminOf(memory, 'malformed');
    const conditions = { office_hours: { expression: 'now < 17' } };
    const body = { expected_version: 0, types: { user: {} }, conditions };
    expect((await fga.rest.put(MODEL, body)).code).toBe('model_invalid');
    for (const types of [
      [],
      'model',
      { doc: { relations: { a: { direct: 'user' } } } },
      { doc: { caveats: {} } },
    ]) {
      expect((await put(fga, types as object)).code).toBe('invalid_request');
    }
    const huge = Object.fromEntries(Array.from({ length: 9_999 }, (_, at) => [`t${at}`, {}]));
    expect((await put(fga, huge)).code).toBe('invalid_request');
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`t${at}`, {}]));
    expect((await put(fga, wide)).code).toBe('model_invalid');
  });

  it('is for admins, and for keys with its scopes', async () => {
    const tenantId = 'rights';
    const { tokens, rest } = memory;
    const by = (bearer: string) => fgaClient(rest.as({ tenant: tenantId, bearer }));
    for (const fga of [
      by(tokens.user({ tenantId, id: 'm', roles: ['member'] })),
      by(tokens.apiKey({ tenantId, scopes: ['fga:read', 'fga:write'] })),
    ]) {
      expect((await fga.rest.get(MODEL)).status).toBe(403);
      expect((await put(fga, DOCS)).status).toBe(403);
      expect((await fga.rest.post(`${MODEL}/dry-run`, { types: DOCS })).status).toBe(403);
    }
    const reader = by(tokens.apiKey({ tenantId, scopes: ['model:read'] }));
    expect((await reader.rest.get(MODEL)).status).toBe(200);
    expect((await put(reader, DOCS)).code).toBe('insufficient_scope');
    const writer = by(tokens.apiKey({ tenantId, scopes: ['model:write'] }));
    expect((await put(writer, DOCS)).status).toBe(200);
    expect((await writer.rest.get(MODEL)).code).toBe('insufficient_scope');
  });
});

describe('authz 23 with a model of its own a tenant', () => {
  it('writes what the model takes and asks for what it names, nothing else', async () => {
    const fga = await tenantWith(
      'writes',
      DOCS,
      'user:ann writer doc:d',
      'group#member:g reader doc:d',
    );
    for (const text of [
      'user:ann viewer doc:d',
      'group:g reader doc:d',
      'user:* writer doc:d',
      'user:ann reader thing:d',
      'doc#reader:d reader doc:d',
    ]) {
      const { status, body } = await fga.write(text);
      expect([text, status]).toEqual([text, 400]);
      expect(body.error.details).toEqual([{ field: 'relation', rule: 'model' }]);
      const many = await fga.rest.post(BATCH, { writes: [tuple(text)] });
      expect(many.body.error.details).toEqual([{ field: 'writes.0.relation', rule: 'model' }]);
    }
    for (const each of [fga, adminOf(table, 'writes')]) {
      const unknown = await each.check('user:ann viewer doc:d');
      expect(unknown.body.error?.details).toEqual([{ field: 'relation', rule: 'enum' }]);
      expect(await each.allows('user:ann reader doc:d')).toBe(true);
      expect(await each.allows('user:bob reader doc:d')).toBe(false);
    }
    const { tuples } = (await fga.list()).body;
    expect(tuples.map(({ relation }: Fields) => relation)).toEqual(['writer', 'reader']);
  });

  it('has what it had before, as far as the model takes it, and may delete the rest', async () => {
    const fga = adminOf(memory, 'before');
    await fga.write('user:ann editor doc:d');
    await fga.write('user:ann member group:g');
    expect(await fga.allows('user:ann viewer doc:d')).toBe(true);
    expect((await put(fga, DOCS)).status).toBe(200);
    expect(await fga.allows('user:ann member group:g')).toBe(true);
    expect((await fga.check('user:ann viewer doc:d')).status).toBe(400);
    expect((await fga.delete('user:ann editor doc:d')).status).toBe(200);
    expect((await fga.list()).body.total).toBe(1);
    expect((await fga.write('user:ann in doc:d')).status).toBe(400);
  });

  it('needs no relation but the seven without one', async () => {
    const fga = adminOf(memory, 'none');
    for (const answer of [
      await fga.write('user:ann reader doc:d'),
      await fga.delete('user:ann reader doc:d'),
      await fga.check('user:ann reader doc:d'),
      await fga.filter('user:ann reader doc', ['d']),
      await fga.listObjects('user:ann reader doc'),
      await adminOf(table, 'none').check('user:ann reader doc:d'),
    ]) {
      expect([answer.status, answer.body.error?.details]).toEqual([
        400,
        [{ field: 'relation', rule: 'enum' }],
      ]);
    }
  });

  it('is answered by each version from its publication on, and as of then by the one before', async () => {
    const fga = await tenantWith('swapped', DOCS, 'user:ann writer doc:d');
    expect(await fga.allows('user:ann reader doc:d')).toBe(true);
    const as_of = new Date().toISOString();
    const strict = {
      ...DOCS,
      doc: { relations: { ...DOCS.doc.relations, reader: { direct: ['user'] } } },
    };
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await put(fga, strict, 1)).status).toBe(200);
    for (const each of [fga, adminOf(table, 'swapped')]) {
      expect(await each.allows('user:ann reader doc:d')).toBe(false);
      const asked = { ...tuple('user:ann reader doc:d'), as_of };
      expect((await each.rest.post('/api/v1/fga/check', asked)).body.allowed).toBe(true);
    }
  });

  it('is told what another model, or a batch, would change', async () => {
    const fga = await tenantWith('dry', DOCS, 'user:ann writer doc:d', 'user:bob reader doc:d');
    const strict = {
      ...DOCS,
      doc: { relations: { ...DOCS.doc.relations, reader: { direct: ['user'] } } },
    };
    const model = await fga.rest.post(`${MODEL}/dry-run`, { types: strict });
    const flip = { ...tuple('user:ann reader doc:d'), from: true, to: false };
    expect(model.body).toEqual({
      flips: [flip],
      total: 1,
      complete: true,
      principals_affected: 1,
      objects_affected: 1,
    });
    expect((await fga.rest.get(MODEL)).body.version).toBe(1);
    const batch = { writes: [tuple('user:bob banned doc:d')] };
    const { body } = await fga.rest.post('/api/v1/fga/dry-run', batch);
    expect(body.flips).toEqual([
      { ...tuple('user:bob banned doc:d'), from: false, to: true },
      { ...tuple('user:bob reader doc:d'), from: true, to: false },
    ]);
    const unknown = await fga.rest.post('/api/v1/fga/dry-run', { ...batch, relations: ['viewer'] });
    expect(unknown.body.error.details).toEqual([{ field: 'relations', rule: 'enum' }]);
  });

  it('gets from both engines what the naive loops answer', { timeout: 300_000 }, async () => {
    await tenantWith('engines', DOCS);
    const entry = (
      type: string,
      relation: string,
      object: string,
      id: fc.Arbitrary<string> = fc.constantFrom('a', 'b'),
    ) =>
      fc
        .tuple(id, fc.constantFrom('a', 'b'))
        .map(([user, of]) => tuple(`${type}:${user} ${relation} ${object}:${of}`));
    const anyTuple = fc.oneof(
      entry('user', 'member', 'group'),
      entry('group#member', 'member', 'group'),
      entry('group#member', 'reader', 'folder'),
      entry('user', 'reader', 'doc', fc.constantFrom('a', '*')),
      entry('group#member', 'reader', 'doc'),
      entry('folder', 'in', 'doc'),
      entry('user', 'banned', 'doc'),
      entry('user', 'writer', 'doc'),
    );
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(anyTuple, {
          minLength: 1,
          maxLength: 12,
          selector: (each) => JSON.stringify(each),
        }),
        async (tuples) => {
          const tenant = `naive-${count++}`;
          const here = await tenantWith(tenant, DOCS);
          expect((await here.rest.post(BATCH, { writes: tuples })).status).toBe(200);
          const naive = naiveAnswers(DOCS, tuples, { type: 'user', id: 'a' });
          const expected = ['a', 'b'].filter((id) =>
            naive({ type: 'doc', id, relation: 'reader' }),
          );
          for (const fga of [here, adminOf(table, tenant)]) {
            expect((await fga.filter('user:a reader doc', ['a', 'b'])).body.allowed_ids).toEqual(
              expected,
            );
            expect((await fga.listObjects('user:a reader doc')).body.object_ids).toEqual(expected);
          }
        },
      ),
      { numRuns: 25, endOnFailure: true },
    );
  });
});
