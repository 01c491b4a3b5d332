import { deriveFrom, inMemorySubjectKeys, neverErased } from '@cardea/crypto';
import { inProcessCache, secret } from '@cardea/runtime';
import { rateLimits } from '@cardea/service';
import { inMemoryLogs } from '@cardea/testing';
import { expect, it } from 'vitest';
import {
  clock,
  countedStreams,
  newCommand,
  TENANT,
  testSealer,
} from '../../../test/counted-streams.ts';
import { somebody } from '../../../test/somebody.ts';
import type { User } from '../../accounts/accounts.module.ts';
import { userField } from '../../streams/encrypted-fields.ts';
import { TENANT_DEFAULTS } from '../../workspaces/workspaces.module.ts';
import { begin } from './attempt.ts';
import { signins } from './lockout.ts';
import { verifyPassword } from './verify-password.ts';

const SECRETS = {
  JWT_SECRET: secret('bb22'.repeat(16)),
  JWT_SECRET_PREVIOUS: undefined,
  ENCRYPTION_KEY: secret('aa11'.repeat(16)),
  ENCRYPTION_KEY_PREVIOUS: undefined,
};
let keysRead: string[] = [];
const table = inMemorySubjectKeys();
const sealer = testSealer((subject) => {
  keysRead.push(subject);
}, table);

function replica(logs: ReturnType<typeof inMemoryLogs>) {
  const { streams, taken } = countedStreams(logs);
  const limits = rateLimits({
    ...{ cache: inProcessCache(clock), clock, derive: deriveFrom(SECRETS), factor: 1 },
  });
  const verify = verifyPassword({
    ...{ streams, sealer, limits, clock },
    passwords: { verify: async () => ({ right: false }) },
  });
  return {
    taken,
    fail: async (emailHash: string, user: User = { status: 'none' }) => {
      const { state: signin } = await streams.load(signins, { tenantId: TENANT, id: emailHash });
      const attempt = begin({ via: 'login', first: 'password', user, settings: TENANT_DEFAULTS });
      const shown = { emailHash, password: 'x', method: 'password', ip: '192.0.2.1', signin };
      await verify(attempt, shown, newCommand());
    },
  };
}

it('S8 a wrong password costs the same whether or not there were sign-ins of the address before', async () => {
  const logs = inMemoryLogs();
  const [here, elsewhere] = [replica(logs), replica(logs)];
  await here.fail('known');
  await elsewhere.fail('distant');
  here.taken();
  for (const address of ['known', 'distant', 'unknown', 'unknown']) {
    await here.fail(address);
    expect(here.taken(), address).toEqual(['read signin', 'append signin']);
  }
});

it('S8 the key of a password is read once and then cached, and so is one that nobody has', async () => {
  const here = replica(inMemoryLogs());
  const sealed = await testSealer(undefined, table).seal(
    TENANT,
    userField('ann', 'password_hash'),
    'hash',
  );
  const withPassword = { ...somebody, passwordHash: neverErased(sealed) };
  const keysReadFor = async (emailHash: string, user?: User) => {
    keysRead = [];
    await here.fail(emailHash, user);
    await here.fail(emailHash, user);
    return keysRead.length;
  };
  expect(await keysReadFor('known', withPassword)).toBe(1);
  expect(await keysReadFor('invited', somebody)).toBe(1);
  expect(await keysReadFor('unknown')).toBe(1);
});
