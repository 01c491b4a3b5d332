import { deriveFrom, inMemorySubjectKeys, neverErased } from '@cardea/crypto';
import { inProcessCache, secret } from '@cardea/runtime';
import { rateLimits } from '@cardea/service';
import { inMemoryEventStore, inMemoryLogs } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
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
import { signins } from '../../streams/signin.ts';
import { TENANT_DEFAULTS } from '../../workspaces/workspaces.module.ts';
import { begin } from './attempt.ts';
import { unlock } from './unlock/unlock.ts';
import { verifyPassword } from './verify-password.ts';

const SECRETS = {
  JWT_SECRET: secret('bb22'.repeat(16)),
  JWT_SECRET_PREVIOUS: undefined,
  ENCRYPTION_KEY: secret('aa11'.repeat(16)),
  ENCRYPTION_KEY_PREVIOUS: undefined,
};
let keysRead: string[] = [];
let evaluated = 0;
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
    passwords: {
      verify: async (_phc, password) => {
        evaluated += 1;
        await new Promise(setImmediate);
        return { right: password === 'right' };
      },
    },
  });
  return {
    taken,
    streams,
    tryAs: async (emailHash: string, user: User, password: string) => {
      const attempt = begin({ via: 'login', first: 'password', user, settings: TENANT_DEFAULTS });
      const shown = { emailHash, password, method: 'password', ip: '192.0.2.1' };
      return (await verify(attempt, shown, newCommand())).attempt;
    },
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

describe('many sign-ins at once', () => {
  const withHash = async () => ({
    ...somebody,
    passwordHash: neverErased(
      await testSealer(undefined, table).seal(TENANT, userField('ann', 'password_hash'), 'hash'),
    ),
  });
  const eventsOf = (logs: ReturnType<typeof inMemoryLogs>, emailHash: string) =>
    inMemoryEventStore('identity', logs).readStream(`signin-${emailHash}`);

  it('P6 are all answered where they are right: thirty of one person from one network', async () => {
    const here = replica(inMemoryLogs());
    const user = await withHash();
    const all = await Promise.all(
      Array.from({ length: 30 }, () => here.tryAs('thirty', user, 'right')),
    );
    expect(all.map(({ status }) => status)).toEqual(Array(30).fill('open'));
    expect((await here.tryAs('thirty', user, 'right')).status).toBe('open');
  });

  it('P6 identity 10 are evaluated no more often than ten times where they are wrong, and the block is recorded', async () => {
    const logs = inMemoryLogs();
    const here = replica(logs);
    const user = await withHash();
    evaluated = 0;
    const all = await Promise.all(
      Array.from({ length: 60 }, () => here.tryAs('guessed', user, 'wrong')),
    );
    expect(evaluated).toBe(10);
    const reasons = all.map((attempt) => attempt.status === 'refused' && attempt.reason);
    expect(reasons.filter((reason) => reason === 'blocked')).toHaveLength(50);
    const recorded = (await eventsOf(logs, 'guessed')).map(({ data }) => data['reason']);
    expect(recorded.filter((reason) => reason === 'blocked')).toHaveLength(1);
  });

  it('P6 work again after an administrator unlocked the person', async () => {
    const here = replica(inMemoryLogs());
    const user = await withHash();
    await Promise.all(Array.from({ length: 20 }, () => here.tryAs('locked', user, 'wrong')));
    expect(await here.tryAs('locked', user, 'right')).toMatchObject({ reason: 'blocked' });
    await here.streams.decideOn(signins, 'locked', newCommand(), (signin) =>
      unlock({ userId: 'ann', now: clock.now() }, signin),
    );
    expect((await here.tryAs('locked', user, 'right')).status).toBe('open');
  });
});
