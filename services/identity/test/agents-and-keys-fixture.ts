/** Extends identity's fixture by agents and their keys in one tenant. */
import { type RestDriver, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Account, type IdentityFixture, identityFixture } from './identity-fixture.ts';

export const WAREHOUSE = { service_name: 'warehouse', fields: ['username', 'password'] };
export const reach = (...fields: string[]) => [{ service_name: 'warehouse', fields }];

export type TestAgent = {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
  /** Calls with the agent's key. */
  readonly as: RestDriver;
};

/** Starts the fixture before the tests of a file and stops it after them. */
export function agentsAndKeysFixture() {
  const database = testDatabase();
  let fixture: IdentityFixture;
  let ann: Account;
  let count = 0;
  beforeAll(async () => {
    fixture = await identityFixture(database.url);
    ann = await fixture.signUp();
  });
  afterAll(async () => {
    await fixture?.stop();
  });
  const admin = () => fixture.as(ann);
  const withKey = (bearer: string) => fixture.rest.as({ bearer, tenant: ann.tenantId });
  return {
    fixture: () => fixture,
    ann: () => ann,
    admin,
    withKey,
    newAgent: async (services: readonly object[] = [WAREHOUSE]): Promise<TestAgent> => {
      count += 1;
      const made = await admin().post('/api/v1/agents', { name: `agent ${count}`, services });
      expect(made).toMatchObject({ status: 201, body: { status: 'active' } });
      const { id } = made.body;
      const key = await admin().post(`/api/v1/agents/${id}/keys`, { name: 'ci' });
      expect(key.status).toBe(201);
      return { id, key: key.body.key, keyId: key.body.id, as: withKey(key.body.key) };
    },
    newSession: async (agent: Pick<TestAgent, 'as'>, more: object = {}) => {
      const body = { services: reach('username', 'password'), ...more };
      const made = await agent.as.post('/api/v1/agent/sessions', body);
      expect(made.text).toContain('capability_token');
      return made.body.data;
    },
  };
}
