/** Identity in a process of its own, with a tenant and an account per client. */
import { availableParallelism } from 'node:os';
import { identityService } from '@cardea/identity';
import { serviceFixture } from '@cardea/testing';

const PASSWORD = 'a password for the bench';
const AT_ONCE = 8;

const [databaseUrl = '', count = '1', hashes = 'as configured'] = process.argv.slice(2);
// If hashes are not measured, cheap ones allow many accounts.
const cheap = hashes === 'cheap' ? { ARGON2_MEMORY: '64', ARGON2_TIME: '1' } : {};
const env = { RATE_LIMIT_FACTOR: '1000000', ...cheap };
const fixture = await serviceFixture({ databaseUrl, definitions: [identityService], env });
process.on('disconnect', () => process.exit(0));

const signUp = await fixture.rest.post('/api/v1/auth/signup', {
  email: 'owner@example.com',
  password: PASSWORD,
  company_name: 'Bench',
});
const tenant: string = signUp.body.tenant_id;
const accounts: { tenant: string; email: string; password: string }[] = [];
for (let first = 0; first < Number(count); first += AT_ONCE) {
  const some = Array.from(
    { length: Math.min(AT_ONCE, Number(count) - first) },
    (_, n) => first + n,
  );
  await Promise.all(some.map(register));
}
const { ARGON2_MEMORY, ARGON2_TIME } = fixture.settings;
const concurrency = Math.max(1, availableParallelism() - 1);
process.send?.({
  origin: fixture.baseUrl,
  accounts,
  hashing: JSON.stringify({ memoryCost: ARGON2_MEMORY, timeCost: ARGON2_TIME, concurrency }),
});

async function register(n: number): Promise<void> {
  const email = `user-${n}@example.com`;
  const answer = await fixture.rest.post(
    '/api/v1/auth/register',
    { email, password: PASSWORD, display_name: `User ${n}` },
    { tenant },
  );
  if (answer.status !== 201) throw new Error(`register answered ${answer.status}`);
  accounts.push({ tenant, email, password: PASSWORD });
}
