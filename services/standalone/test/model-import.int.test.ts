/** `cardea model import`: models that are written for other products. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServiceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cardeaFixture, exampleOf, running } from './cardea-fixture.ts';

const OPENFGA = `model
  schema 1.1
type user
type group
  relations
    define member: [user, group#member]
type doc
  relations
    define owner: [user]
    define viewer: [user:*, group#member] or owner
`;
const ZED = `definition user {}
definition doc {
  relation owner: user
  permission view = owner
}
`;
const TYPES = {
  user: { relations: {} },
  group: { relations: { member: { direct: ['user', 'group#member'] } } },
  doc: {
    relations: {
      owner: { direct: ['user'] },
      viewer: { direct: ['user:*', 'group#member'], union: ['owner'] },
    },
  },
};

const database = testDatabase();
const { run: cardea, inJson, here, folder, remove } = cardeaFixture(() => database.url);
let fixture: ServiceFixture;
let tenantId: string;

beforeAll(async () => {
  fixture = await running(database.url);
  const made = await inJson('users create-admin models@example.com');
  tenantId = made.last.tenant_id;
  const { body } = await fixture.rest.post(
    '/api/v1/auth/login',
    { email: 'models@example.com', password: made.last.password },
    { tenant: tenantId },
  );
  admin = fixture.rest.as({ tenant: tenantId, bearer: body.access_token });
});
let admin: ServiceFixture['rest'];
afterAll(async () => {
  await fixture?.stop();
  remove();
});

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe('O13 a model of another product', () => {
  it('is shown without a deployment, as the endpoint takes it', async () => {
    const path = file('print.fga', OPENFGA);
    const ran = await cardea(`model import --print ${path}`, { DATABASE_URL: '' });
    expect([ran.code, JSON.parse(ran.out)]).toEqual([0, TYPES]);
    const example = exampleOf('model import', { tenant: tenantId });
    expect((await cardea(example.replace(/\S+$/, path))).code).toBe(0);
  });

  it('becomes the next version, which the running service then answers by', async () => {
    const path = file('publish.fga', OPENFGA);
    const first = await inJson(`model import --tenant ${tenantId} ${path}`);
    expect(first).toMatchObject({ code: 0, last: { ok: true, version: 1 } });
    await untilTrue(async () => (await admin.get('/api/v1/fga/model')).body.version === 1);
    expect((await admin.get('/api/v1/fga/model')).body.types).toEqual(TYPES);
    const tuple = {
      user_type: 'user',
      user_id: 'ann',
      relation: 'owner',
      object_type: 'doc',
      object_id: 'd',
    };
    expect((await admin.post('/api/v1/fga/tuples', tuple)).status).toBe(201);
    const checked = await admin.post('/api/v1/fga/check', { ...tuple, relation: 'viewer' });
    expect(checked.body).toEqual({
      allowed: true,
      reason: 'user:ann owner doc:d (owner implies viewer)',
    });

    const again = await inJson(`model import --tenant ${tenantId.toUpperCase()} ${path}`);
    expect(again).toMatchObject({ code: 1, last: { error: { code: 'model_unchanged' } } });
    const zed = file('schema.zed', ZED);
    const late = await inJson(`model import --tenant ${tenantId} --expected-version 0 ${zed}`);
    expect(late).toMatchObject({ code: 1, last: { error: { code: 'version_conflict' } } });
    const next = await inJson(`model import --tenant ${tenantId} --expected-version 1 ${zed}`);
    expect(next).toMatchObject({ code: 0, last: { version: 2 } });
  });

  it('is refused where it says more than ours, without a word of it', async () => {
    const conditional = OPENFGA.replace('[user, group#member]', '[user with canary_condition]');
    const text = `${conditional}condition canary_condition(x: int) {\n  x < 1\n}\n`;
    const refused = await inJson(`model import --print ${file('conditions.fga', text)}`);
    expect(refused).toMatchObject({ code: 1, last: { error: { code: 'not_importable' } } });
    expect(refused.out + refused.err).not.toContain('canary_condition');
    const broken = await inJson(`model import --print ${file('broken.zed', 'canary { no')}`);
    expect(broken).toMatchObject({ code: 1, last: { error: { code: 'not_importable' } } });
    expect(broken.out + broken.err).not.toContain('canary {');
  });

  it('needs a file, its language and a tenant', async () => {
    const path = file('model.txt', OPENFGA);
    expect((await here('model import')).code).toBe(2);
    expect((await here(`model import ${path}`)).code).toBe(2);
    expect((await here(`model import --print ${path}`)).code).toBe(2);
    expect((await here(`model import --print --language openfga ${path}`)).code).toBe(0);
    expect((await here(`model import --print --language klingon ${path}`)).code).toBe(2);
    expect((await here(`model import --print ${join(folder, 'absent.fga')}`)).code).toBe(1);
  });
});
