/** The command line changes the keys that sign tokens while a process serves. */
import { type ServiceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cardeaFixture, running } from './cardea-fixture.ts';

/** Well below the 30 s after which the key ring is read anyway, and the 60 s after which a token is verified again. */
const NOTICE_MS_MAX = 20_000;

const database = testDatabase();
const { here, inJson, remove } = cardeaFixture(() => database.url);
let fixture: ServiceFixture;

beforeAll(async () => {
  fixture = await running(database.url);
});
afterAll(async () => {
  await fixture?.stop();
  remove();
});

/** The number of these keys that the deployment's secrets can still decrypt. */
async function readableHalves(kids: readonly string[]): Promise<number> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rowCount } = await client.query(
    'SELECT FROM identity.subject_keys WHERE subject_id = ANY($1) AND wrapped IS NOT NULL',
    [kids.map((kid) => `jwk:${kid}`)],
  );
  await client.end();
  return rowCount ?? 0;
}

describe('O13 keys', () => {
  it('a new signing key takes over, and the one before stays published', async () => {
    const before = (await inJson('keys status')).last.keys;
    expect(before).toMatchObject(
      ['EdDSA', 'RS256', 'ES256'].map((alg) => ({ alg, state: 'active' })),
    );
    const { code, last } = await inJson('keys rotate --wait 0');
    expect(code).toBe(0);
    expect((await inJson('keys status')).last.keys).toMatchObject(
      before.flatMap(({ kid }: { kid: string }, index: number) => [
        { kid, state: 'retired' },
        { kid: last.active[index], state: 'active' },
      ]),
    );
    expect((await here('keys rotate --wait -1')).code).toBe(2);
  });

  it('a rotation that was stopped half way is taken up again', async () => {
    const stopped = await inJson('keys rotate --wait 60', 'once it has spoken');
    expect(stopped.code).toBe(1);
    const { announced } = stopped.said[0];
    expect(await inJson('keys rotate --wait 0')).toMatchObject({ last: { active: announced } });
  });

  it('a revocation ends all tokens at once in a process that nobody told, and no refresh token', async () => {
    const signedUp = await fixture.rest.post('/api/v1/auth/signup', {
      email: 'robbed@example.com',
      password: 'a password for the tests',
      company_name: 'Robbed',
    });
    const { access_token: stolen, refresh_token, tenant_id: tenant } = signedUp.body;
    const me = async (bearer: string) =>
      (await fixture.rest.as({ bearer, tenant }).get('/api/v1/auth/me')).status;
    const webhooks = async (bearer: string) =>
      (await fixture.rest.as({ bearer, tenant }).get('/api/v1/webhooks')).status;
    expect([await me(stolen), await webhooks(stolen)]).toEqual([200, 200]);
    expect((await here('keys rotate --revoke')).code).toBe(2);
    expect((await here('keys rotate --revoke --yes --wait 5')).code).toBe(2);
    expect([await me(stolen), await webhooks(stolen)]).toEqual([200, 200]);

    const before = (await inJson('keys status')).last.keys.map(({ kid }: { kid: string }) => kid);
    expect(await readableHalves(before)).toBe(before.length);
    const { code, last } = await inJson('keys rotate --revoke --yes');
    expect(code).toBe(0);
    expect(last.removed.toSorted()).toEqual(before.toSorted());
    expect((await inJson('keys status')).last.keys).toMatchObject([
      { kid: last.active, state: 'active' },
      { state: 'active' },
      { state: 'active' },
    ]);
    const isRefused = async () => (await me(stolen)) === 401 && (await webhooks(stolen)) === 401;
    await untilTrue(isRefused, { deadlineMs: NOTICE_MS_MAX, what: 'the token is refused' });
    const refreshed = await fixture.rest.post('/api/v1/auth/refresh', { refresh_token });
    expect(refreshed.status).toBe(200);
    expect(await me(refreshed.body.access_token)).toBe(200);
    const readable = () => readableHalves(before);
    await untilTrue(async () => (await readable()) === 0, { what: 'the private halves are gone' });
  });
});
