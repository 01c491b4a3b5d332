/** The keys of days over more than a year, with the test's own clock. */
import { contextLocation, neverErased, type Sealed, sealer, wrapKeys } from '@cardea/crypto';
import { openDatabase, type PostgresDatabase, postgresSubjectKeys } from '@cardea/read-models';
import { armFailPoints, fakeClock, parseFailPoints, secret } from '@cardea/runtime';
import { silentLogger, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayKeyErasure } from '../src/keys/day-keys.ts';

const DAY_MS = 24 * 3600_000;
const DAYS = 400;
const SECRETS = { ENCRYPTION_KEY: secret('ab12'.repeat(16)), ENCRYPTION_KEY_PREVIOUS: undefined };

const test = testDatabase();
let database: PostgresDatabase;
beforeAll(() => {
  database = openDatabase({ connectionString: test.url, log: silentLogger });
});
afterAll(async () => {
  armFailPoints([]);
  await database?.close();
});

const clock = fakeClock('2026-01-01T12:00:00.000Z');
/** A new sealer reads the rows again, as a process does after its cached keys have expired. */
const seals = () =>
  sealer({
    table: postgresSubjectKeys(database, 'identity'),
    keys: wrapKeys(SECRETS, 'subject-wrap/v1'),
    clock,
  });

/** The work of the loop at its start, and once a day after. */
async function turn(): Promise<void> {
  const stop = new AbortController();
  const { run } = dayKeyErasure({ name: 'identity' }, { database, clock, log: silentLogger });
  const running = run(
    stop.signal,
    () => {},
    () => {},
  );
  while (clock.sleepers === 0) {
    await Promise.race([running, new Promise((resolve) => setImmediate(resolve))]);
  }
  stop.abort();
  await running;
}

describe('the keys of days', () => {
  it('are erased once their days have lapsed: context after 366, transient after 7; no other is', async () => {
    const kept: { readonly day: number; readonly context: Sealed; readonly mail: Sealed }[] = [];
    const user = neverErased(
      await seals().seal('t1', { subject: 'user:u1', streamId: 'x', field: 'email' }, 'ann'),
    );
    const isOpen = async (sealed: Sealed, place: { streamId: string; field: string }) =>
      (await seals().open(sealed, place)) !== null;
    const ages = async (name: 'context' | 'mail', today: number) => {
      const place =
        name === 'context'
          ? { streamId: 'context', field: 'ip' }
          : { streamId: 'mailbox-x', field: 'email' };
      const open: number[] = [];
      for (const each of kept) if (await isOpen(each[name], place)) open.push(today - each.day);
      return { oldest: Math.max(...open), count: open.length };
    };
    for (let day = 0; day < DAYS; day += 1) {
      const now = clock.now();
      const subject = `transient:t1:${now.toISOString().slice(0, 10)}`;
      const mail = { subject, streamId: 'mailbox-x', field: 'email' };
      kept.push({
        day,
        context: neverErased(
          await seals().seal('t1', contextLocation('t1', now, 'ip'), '192.0.2.1'),
        ),
        mail: neverErased(await seals().seal('t1', mail, 'ann@example.com')),
      });
      if (day === 370) {
        // The process crashes after a key was erased. The next run erases the rest.
        armFailPoints(parseFailPoints('erase.after_key=throw@1') ?? []);
        await expect(turn()).rejects.toThrow('erase.after_key');
        armFailPoints([]);
      }
      await turn();
      if ([3, 7, 8, 100, 366, 367, 399].includes(day)) {
        expect(await ages('mail', day), `mail on day ${day}`).toEqual({
          oldest: Math.min(day, 7),
          count: Math.min(day, 7) + 1,
        });
        expect(await ages('context', day), `context on day ${day}`).toEqual({
          oldest: Math.min(day, 366),
          count: Math.min(day, 366) + 1,
        });
      }
      clock.setWall(new Date(now.getTime() + DAY_MS));
    }
    expect(await isOpen(user, { streamId: 'x', field: 'email' })).toBe(true);
    const [first] = kept;
    const again = await seals().seal(
      't1',
      { subject: first?.mail.subject ?? '', streamId: 'x', field: 'y' },
      'z',
    );
    expect(again).toBe('erased');
  }, 120_000);
});
