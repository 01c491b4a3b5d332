/** The service in a process that a test may kill: says where it listens and how to be let in. */
import { authzService } from '@cardea/authz';
import { serviceRig } from '@cardea/testing';

const [databaseUrl = '', tenantId = ''] = process.argv.slice(2);
const env = { JWT_SECRET: 'j'.repeat(40), ENCRYPTION_KEY: 'e0'.repeat(32) };
const rig = await serviceRig({ databaseUrl, definitions: [authzService], env });
process.on('disconnect', () => process.exit(0));
process.send?.({
  baseUrl: rig.baseUrl,
  bearer: rig.tokens.user({ tenantId, id: 'admin', roles: ['admin'] }),
});
