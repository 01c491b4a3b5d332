/** The database that every test file gets a copy of: the schemas of the kernel and of all services. */
import { postgresSetup } from '@cardea/testing';

export default postgresSetup(async () => undefined);
