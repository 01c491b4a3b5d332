/** Runs the service in a process that a test may kill. Prints its address and credentials. */
import { authzService } from '@cardea/authz';
import { serviceFixture } from '@cardea/testing';

const [databaseUrl = '', tenantId = ''] = process.argv.slice(2);
const env = { JWT_SECRET: 'j'.repeat(40), ENCRYPTION_KEY: 'e0'.repeat(32) };
const fixture = await serviceFixture({ databaseUrl, definitions: [authzService], env });
process.on('disconnect', () => process.exit(0));
process.send?.({
  baseUrl: fixture.baseUrl,
  bearer: fixture.tokens.user({ tenantId, id: 'admin', roles: ['admin'] }),
});
