/** An owner closes a tenant. Thirty days later all of it is gone, even if processes die in between. */
import { type FixtureProcess, processFixture, testDatabase, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { instance } from '../faults/instance.ts';
import {
  closed,
  DAYS,
  deadly,
  expectFree,
  GONE_MS_MAX,
  isGone,
  PLAYED_MS_MAX,
  starts,
} from './deleted-tenant.ts';

describe('a tenant that was deleted, in one process', () => {
  const database = testDatabase();
  const processes = processFixture();
  const { env, set: later } = starts('standalone.json');

  it('identity 15 is gone in all services, killed after each step', {
    timeout: PLAYED_MS_MAX,
  }, async () => {
    const cardea = await instance(processes, { ...env, DATABASE_URL: database.url });
    const first = await cardea.start();
    const of = { mailbox: cardea.base, databaseUrl: database.url };
    const made = await closed(cardea.rest, of);
    await first.end('SIGTERM');
    let alive: FixtureProcess | undefined;
    let deaths = 0;
    await untilTrue(
      async () => {
        if (alive === undefined) {
          later({ days: DAYS, failPoints: deadly(deaths) });
          alive = await cardea.start().catch(() => undefined);
          if (alive === undefined) deaths += 1;
          void alive?.ended.then(() => {
            alive = undefined;
            deaths += 1;
          });
        }
        return isGone(database.url, made.id);
      },
      { what: 'it is gone', deadlineMs: GONE_MS_MAX },
    );
    // The process died once at its first erasure, and once at the second erasure of the rest.
    expect(deaths).toBeGreaterThanOrEqual(2);
    await alive?.end('SIGTERM');
    later({});
    await cardea.start();
    const owner = cardea.rest.as(await cardea.admin());
    expect((await owner.get('/api/v1/auth/me')).status).toBe(200);
    await expectFree(cardea.rest, made);
  });
});
