/** A question's reads from the table are limited in bytes as well as in rows. */
import { authzService } from '@cardea/authz';
import { type ServiceFixture, serviceFixture, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readAffected } from '../src/adapters/affected-tuples.ts';
import { EvaluationBudgetExceeded } from '../src/engine/tuple-index.ts';
import { Work } from '../src/engine/work.ts';
import { adminOf } from './fga-client.ts';

const database = testDatabase();
let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: [authzService] });
});
afterAll(() => fixture?.stop());

const TUPLES = 20;
const ID_CHARS = 60;

it('C2 rows above the budget of bytes are refused, and are not sent', async () => {
  const tenantId = 'large-rows';
  const { rest } = adminOf(fixture, tenantId);
  const writes = Array.from({ length: TUPLES }, (_, at) => ({
    ...{ user_type: 'user', user_id: `${at}`.padEnd(ID_CHARS, 'x'), relation: 'viewer' },
    ...{ object_type: 'document', object_id: `${at}`.padEnd(ID_CHARS, 'y') },
  }));
  expect((await rest.post('/api/v1/fga/tuples/batch', { writes })).status).toBe(200);
  const { database: pool } = fixture.shared;
  const read = (rowsMaxBytes: number) =>
    readAffected(pool, { tenantId, work: new Work(tenantId), rowsMaxBytes }, undefined);
  const bytes = TUPLES * 2 * ID_CHARS;
  await expect(read(bytes)).rejects.toBeInstanceOf(EvaluationBudgetExceeded);
  const found = await read(3 * bytes);
  expect(found.tuples).toHaveLength(TUPLES);
});
