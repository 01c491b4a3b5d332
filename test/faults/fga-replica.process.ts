/** The authz service as one of several replicas. It prints nothing, and sends its parent its address and key. */
import { authzService } from '@cardea/authz';
import { type Clock, systemClock } from '@cardea/runtime';
import { serviceFixture } from '@cardea/testing';

const [databaseUrl = '', tenantId = '', redisUrl = ''] = process.argv.slice(2);

let wallAheadMs = 0;
const clock: Clock = {
  ...systemClock,
  now: () => new Date(Date.now() + wallAheadMs),
};
const fixture = await serviceFixture({
  databaseUrl,
  definitions: [authzService],
  clock,
  env: {
    JWT_SECRET: 'j'.repeat(40),
    ENCRYPTION_KEY: 'e0'.repeat(32),
    ...(redisUrl === '' ? {} : { REDIS_URL: redisUrl }),
  },
});
process.on('disconnect', () => process.exit(0));
process.on('message', ({ stepMs }: { readonly stepMs: number }) => {
  wallAheadMs += stepMs;
});
process.send?.({
  baseUrl: fixture.baseUrl,
  managementUrl: fixture.managementUrl,
  key: fixture.tokens.apiKey({ tenantId, scopes: ['fga:read', 'fga:write'] }),
});
