import { systemClock } from '@cardea/runtime';
import { type RestAnswer, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTenant, type VaultFixture, vaultFixture } from './fixture.ts';

const DAY_MS = 24 * 3_600_000;
const database = testDatabase();
let movedMs = 0;
const clock = { ...systemClock, now: () => new Date(Date.now() + movedMs) };
let fixture: VaultFixture;
beforeAll(async () => {
  fixture = await vaultFixture(database.url, { clock });
});
afterAll(async () => {
  await fixture?.stop();
});

const headers = { 'idempotency-key': 'daily' };
const told = ({ status, code }: RestAnswer) => `${status} ${code}`;

describe('an Idempotency-Key lapses after a day', () => {
  it.each([
    {
      what: 'a service',
      path: '/api/v1/vault/services',
      body: (name: string) => ({ name, credential_type: 'static', fields: [{ name: 'a' }] }),
    },
    {
      what: 'a policy',
      path: '/api/v1/vault/approval-policies',
      body: (service_name: string) => ({
        name: 'p',
        service_name,
        fields: '*',
        agent_ids: '*',
        effect: 'deny',
      }),
    },
  ])('for $what', async ({ path, body }) => {
    const tenantId = newTenant();
    const post = (name: string) => fixture.admin(tenantId).post(path, body(name), { headers });
    const first = await post('one');
    expect(told(first)).toBe('201 undefined');
    movedMs += DAY_MS - 60_000;
    expect((await post('one')).body).toEqual(first.body);
    expect(told(await post('two'))).toBe('422 idempotency_key_reused');
    movedMs += 60_000;
    const second = await post('two');
    expect([told(second), second.body.id === first.body.id]).toEqual(['201 undefined', false]);
    expect((await post('two')).body).toEqual(second.body);
  });

  it('for a grant, whose repeat by force then meets the new one', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const grant = async () => {
      const session = fixture.session({ tenantId, agentId: 'bot', sessionId: 'the-session' });
      const answer = await session.vend({ force_refresh: true }, headers);
      expect(told(answer)).toBe('200 undefined');
      return answer.body.data.grant_id;
    };
    const first = await grant();
    expect(await grant()).toBe(first);
    movedMs += DAY_MS;
    const second = await grant();
    expect(second).not.toBe(first);
    expect(await grant()).toBe(second);
  });
});
