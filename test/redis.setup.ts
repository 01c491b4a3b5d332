/** Called by vitest before the first test of a project that uses Redis. */
import { redisSetup } from '@cardea/testing';

export default redisSetup();
