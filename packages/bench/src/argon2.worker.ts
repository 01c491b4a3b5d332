/** The floor of a login: password hashes alone, with the same parameters and concurrency. */
import { createRequire } from 'node:module';
import { measureCalls, serveMeasurements } from './harness.ts';

// Only identity may depend on the hash function; its copy is the one to compare with.
const require = createRequire(new URL('../../../services/identity/package.json', import.meta.url));
// biome-ignore lint/correctness/noUndeclaredDependencies: identity's own copy
const { hash, verify } = require('@node-rs/argon2');
const { memoryCost, timeCost, concurrency } = JSON.parse(process.argv[2] ?? '{}');
const stored = await hash('a password for the bench', { memoryCost, timeCost, parallelism: 1 });

serveMeasurements((seconds) =>
  measureCalls(concurrency, seconds, async () => {
    if (!(await verify(stored, 'a password for the bench'))) throw new Error('not verified');
  }),
);
