/** Verifies a password hash with given parameters, as a login does. */
import { createRequire } from 'node:module';

// Only identity may depend on the hash function, so its copy is used.
const require = createRequire(
  new URL('../../../../services/identity/package.json', import.meta.url),
);
const PASSWORD = 'a password for the bench';

type Hashing = {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly concurrency: number;
};

/** Throws when the password is not verified. */
export async function verifier({ memoryCost, timeCost }: Hashing): Promise<() => Promise<void>> {
  const { hash, verify } = require('@node-rs/argon2');
  const stored = await hash(PASSWORD, { memoryCost, timeCost, parallelism: 1 });
  return async () => {
    if (!(await verify(stored, PASSWORD))) throw new Error('not verified');
  };
}
