import { deriveFrom } from '@cardea/crypto';
import { secret } from '@cardea/runtime';
import { internalBearers } from '@cardea/service';
import { services } from '@cardea/standalone';
import { type ServiceFixture, serviceFixture, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CHEAP, cardeaFixture, SECRETS } from './cardea-fixture.ts';

const PREVIOUS = 'the-secret-before-this-one-that-is-long-enough';
const database = testDatabase();
const { here, inJson, remove } = cardeaFixture(() => database.url);
let fixture: ServiceFixture;

beforeAll(async () => {
  const { JWT_SECRET, ENCRYPTION_KEY } = SECRETS;
  const env = { JWT_SECRET, JWT_SECRET_PREVIOUS: PREVIOUS, ENCRYPTION_KEY, ...CHEAP };
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: services, env });
});
afterAll(async () => {
  await fixture?.stop();
  remove();
});
beforeEach(() => fixture.shared.log.setLevel('info'));

const bearerOf = (jwtSecret: string): string => {
  const derive = deriveFrom({
    JWT_SECRET: secret(jwtSecret),
    JWT_SECRET_PREVIOUS: undefined,
    ENCRYPTION_KEY: secret(SECRETS.ENCRYPTION_KEY),
    ENCRYPTION_KEY_PREVIOUS: undefined,
  });
  return `Bearer ${internalBearers({ derive }, ['vault'], 'cardea').to('vault')[0]}`;
};
const put = (authorization?: string, level = 'debug') =>
  fetch(`${fixture.managementUrl}/loglevel`, {
    method: 'PUT',
    headers: authorization === undefined ? {} : { authorization },
    body: JSON.stringify({ level, ttl_seconds: 60 }),
  });

describe('S25 the log level of a process', () => {
  it('S25 is changed by nobody without the bearer of the deployment', async () => {
    const right = bearerOf(SECRETS.JWT_SECRET);
    const wrong = [undefined, '', 'Bearer', 'Bearer x', `${right}x`, right.slice(0, -1)];
    for (const authorization of [
      ...wrong,
      bearerOf('a secret of another deployment, long enough'),
    ]) {
      const answer = await put(authorization);
      expect(answer.status, authorization).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect(fixture.shared.log.level).toBe('info');
  });

  it('S25 is changed with it, and with the previous secret’s while that is rotated', async () => {
    expect((await put(bearerOf(PREVIOUS), 'warn')).status).toBe(200);
    expect(fixture.shared.log.level).toBe('warn');
    expect((await put(bearerOf(SECRETS.JWT_SECRET))).status).toBe(200);
    expect(fixture.shared.log.level).toBe('debug');
  });

  it('O13 is changed by the command line, in each process that is named', async () => {
    const at = `--management ${fixture.managementUrl}`;
    const { code, last } = await inJson(`loglevel debug --ttl 60 ${at}`);
    expect(code).toBe(0);
    expect(last).toEqual({
      ok: true,
      processes: [{ management: fixture.managementUrl, changed: true }],
    });
    expect(fixture.shared.log.level).toBe('debug');
    expect((await here(`loglevel loud ${at}`)).code).toBe(2);
    expect((await here(`loglevel debug --ttl 3601 ${at}`)).code).toBe(2);
    expect((await here('loglevel debug --management http://127.0.0.1:1')).code).toBe(1);
    expect((await here('loglevel debug')).code).toBe(1);
  });
});
