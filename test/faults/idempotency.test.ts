import { processFixture, testDatabase } from '@cardea/testing';
import { expect, it } from 'vitest';
import { instance } from './instance.ts';

const fixture = processFixture();
const database = testDatabase();

it('R11 a request that was killed between the use of its Idempotency-Key and what it makes goes on', async () => {
  const env: Record<string, string> = {
    DATABASE_URL: database.url,
    CARDEA_FAILPOINT: 'idempotency.after_use=kill',
  };
  const cardea = await instance(fixture, env);
  const doomed = await cardea.start();
  const post = async () =>
    cardea.rest
      .as(await cardea.admin())
      .post(
        '/api/v1/api-keys',
        { name: 'killed', scopes: ['fga:read'] },
        { headers: { 'idempotency-key': 'killed' } },
      );
  await expect(post()).rejects.toThrow();
  await doomed.ended;
  delete env['CARDEA_FAILPOINT'];
  const next = await cardea.start();
  const made = await post();
  expect(made.status).toBe(201);
  const again = await post();
  expect([again.status, again.body.error.details]).toEqual([409, { id: made.body.id }]);
  expect(await next.end('SIGTERM')).toBe(0);
});
