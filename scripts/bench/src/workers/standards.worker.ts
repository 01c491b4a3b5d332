/** Identity and the authorization service in one process of their own, and a tenant with tuples. */
import { authzService } from '@cardea/authz';
import { identityService } from '@cardea/identity';
import { referenceSet, serviceFixture } from '@cardea/testing';
import { seedTuples } from '../subjects/seed-tuples.ts';
import { signUp } from '../subjects/sign-up.ts';

const QUESTIONS = 2_000;
/** The factor by which the set is smaller than a million tuples. */
const SMALLER = 50;
const SMALLER_SMOKE = 1_000;
const ISSUER = 'http://127.0.0.1:9';

export type StandardsServer = {
  readonly pid: number;
  readonly origin: string;
  readonly issuer: string;
  /** The address of the database, as its owner. */
  readonly database: string;
  /** The tenant that has tuples, its owner's token, and the bodies of checks in it. */
  readonly tenant: string;
  readonly token: string;
  readonly questions: readonly string[];
};

const [databaseUrl = '', size] = process.argv.slice(2);
// Hashes are not measured here, and no request exceeds a rate limit.
const env = {
  ISSUER,
  RATE_LIMIT_FACTOR: '1000000',
  JWT_EXPIRY: '24h',
  ARGON2_MEMORY: '64',
  ARGON2_TIME: '1',
};
const definitions = [identityService, authzService];
const fixture = await serviceFixture({ databaseUrl, definitions, env });
process.on('disconnect', () => process.exit(0));

const set = referenceSet(size === 'smoke' ? SMALLER_SMOKE : SMALLER);
const { tenant, token } = await signUp(fixture.rest, 'tuples');
await seedTuples(fixture, tenant, set.tuples());
const said: StandardsServer = {
  pid: process.pid,
  origin: fixture.baseUrl,
  issuer: ISSUER,
  database: databaseUrl,
  tenant,
  token,
  questions: Array.from({ length: QUESTIONS }, (_, at) => JSON.stringify(set.question(at))),
};
process.send?.(said);
