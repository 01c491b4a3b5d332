/**
 * The number of statements that PostgreSQL gets for one request, when nothing else happens: exact for the request
 * itself, a maximum for what follows from it. A change that needs one more statement has to say so in this table.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { processFixture, type WebhookSink, webhookSink } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { instance } from './instance.ts';
import { type Counts, countsOf, idleRate } from './statement-counts.ts';
import { loggedPostgres } from './statement-log.ts';
import { countedRequests } from './statement-requests.ts';

/**
 * Caches that expire, reads that do not share a statement, and timers that fire during a play are no part of the
 * request.
 */
const PLAYS_MAX = 30;
const AGREEING_PLAYS = 2;
const IDLE_MS = 5_000;
const TEST_MS_MAX = 600_000;

/**
 * The maximum per request; `ownShares` is exact. If policies decide afterwards, it is random how many of their reads
 * and appends share a statement, so `own` leaves room for that. `docs/benchmarks.md` shows the counted numbers.
 */
const EXPECTED: { readonly [request: string]: Counts } = {
  // Two statements of each request that starts a user's first session in a minute count the user's live sessions
  // (identity 25): one finds how far the table has come, one counts. The logins are further ones of one user.
  'sign-up': { own: 23, ownShares: 25, following: 56 },
  register: { own: 17, ownShares: 17, following: 42 },
  login: { own: 3, ownShares: 5, following: 16 },
  refresh: { own: 1, ownShares: 1, following: 5 },
  'profile read': { own: 1, ownShares: 1, following: 4 },
  'tuple written': { own: 1, ownShares: 1, following: 9 },
  check: { own: 0, ownShares: 0, following: 4 },
  'API key created': { own: 3, ownShares: 4, following: 12 },
  'agent session': { own: 1, ownShares: 1, following: 12 },
  'fresh vend': { own: 1, ownShares: 1, following: 9 },
  'live vend again': { own: 0, ownShares: 0, following: 4 },
  // One of the seven finds out whether an invitation of a higher rank promises the address (P1).
  'user created and told': { own: 6, ownShares: 7, following: 32 },
};

const fixture = processFixture();
let postgres: Awaited<ReturnType<typeof loggedPostgres>>;
let sink: WebhookSink;
beforeAll(async () => {
  postgres = await loggedPostgres();
  sink = await webhookSink();
});
afterAll(async () => {
  await sink?.close();
  await postgres?.stop();
});

it('each request asks the database no more than the table says', {
  timeout: TEST_MS_MAX,
}, async () => {
  const cardea = await instance(fixture, { DATABASE_URL: postgres.url });
  const running = await cardea.start();
  const requests = await countedRequests(cardea.rest, sink.url);
  const idle = idleRate(await postgres.during(() => pause(IDLE_MS)));
  const counted = new Map<string, readonly Counts[]>();
  for (const { name, prepare, send } of requests) {
    const plays: Counts[] = [];
    while (!agree(name, plays) && plays.length < PLAYS_MAX) {
      await prepare?.();
      plays.push(countsOf(await postgres.during(send), idle));
    }
    counted.set(name, plays);
  }
  console.log(table(counted, idle));
  expect([...counted].filter(([name, plays]) => !agree(name, plays))).toEqual([]);
  expect(await running.end('SIGTERM')).toBe(0);
});

/** One more statement would be in every play, so no play would agree. */
const agree = (name: string, plays: readonly Counts[]): boolean =>
  plays.filter((play) => agrees(play, EXPECTED[name])).length >= AGREEING_PLAYS;

const agrees = (play: Counts, expected: Counts | undefined): boolean =>
  expected !== undefined &&
  play.ownShares === expected.ownShares &&
  play.own <= expected.own &&
  play.following <= expected.following;

const table = (counted: ReadonlyMap<string, readonly Counts[]>, idle: number): string =>
  [
    '| Request | its own, with those that shared one | that follow | plays |',
    '|---|---|---|---|',
    ...[...counted].map(([name, plays]) => {
      const least = (key: keyof Counts) => Math.min(...plays.map((play) => play[key]));
      return `| ${name} | ${least('own')}, ${least('ownShares')} | ${least('following')} | ${plays.length} |`;
    }),
    `| nothing, for a second | | ${idle.toFixed(1)} | |`,
  ].join('\n');
