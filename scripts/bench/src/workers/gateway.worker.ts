/** The authorization service in a process of its own, with a few tuples and an API key for checks. */
import { authzService } from '@cardea/authz';
import { uuidFrom } from '@cardea/runtime';
import { serviceFixture } from '@cardea/testing';

const TENANT = 'bench';
const TUPLES = 50;

const [databaseUrl = ''] = process.argv.slice(2);
const fixture = await serviceFixture({ databaseUrl, definitions: [authzService] });
process.on('disconnect', () => process.exit(0));

const scopes = ['fga:read', 'fga:write'];
const key = fixture.tokens.apiKey({ tenantId: TENANT, scopes });
const rest = fixture.rest.as({ bearer: key, tenant: TENANT });
const tuple = (n: number) => ({
  user_type: 'user',
  user_id: uuidFrom('user', String(n)),
  relation: 'viewer',
  object_type: 'document',
  object_id: uuidFrom('document', String(n)),
});
for (let n = 0; n < TUPLES; n += 1) {
  const { status, text } = await rest.post('/api/v1/fga/tuples', tuple(n));
  if (status !== 201) throw new Error(`a tuple was answered ${status} ${text}`);
}

process.send?.({
  origin: fixture.baseUrl,
  pid: process.pid,
  headers: { authorization: `Bearer ${key}`, 'x-service-tenant': TENANT },
  question: JSON.stringify(tuple(0)),
});
