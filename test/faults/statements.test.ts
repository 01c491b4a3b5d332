/**
 * How often PostgreSQL is asked for one request, when nothing else is going on: by the request itself
 * exactly, by what follows from it at most. Whoever needs a statement more says so in this table.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { processFixture, type WebhookSink, webhookSink } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { instance } from './instance.ts';
import { type Counts, countsOf, idleRate } from './statement-counts.ts';
import { loggedPostgres } from './statement-log.ts';
import { countedRequests } from './statement-requests.ts';

/** Caches that run out, reads that do not meet and timers that fall into a play are no part of the request. */
const PLAYS_MAX = 30;
const AGREEING_PLAYS = 2;
const IDLE_MS = 5_000;
const TEST_MS_MAX = 600_000;

/**
 * At most; `ownShares` exactly. Where policies decide afterwards, how many of their reads and appends meet
 * in one statement is chance: there `own` leaves room for it. `docs/benchmarks.md` shows what was counted.
 */
const EXPECTED: { readonly [request: string]: Counts } = {
  // Two of each that starts a session count the user's live ones (identity 25): whether the table has
  // come so far, and which are beyond the limit.
  'sign-up': { own: 23, ownShares: 25, following: 56 },
  register: { own: 17, ownShares: 17, following: 42 },
  login: { own: 4, ownShares: 7, following: 16 },
  refresh: { own: 1, ownShares: 1, following: 5 },
  'profile read': { own: 1, ownShares: 1, following: 4 },
  'tuple written': { own: 1, ownShares: 1, following: 9 },
  check: { own: 0, ownShares: 0, following: 4 },
  'API key created': { own: 3, ownShares: 4, following: 12 },
  'agent session': { own: 1, ownShares: 1, following: 12 },
  'fresh vend': { own: 1, ownShares: 1, following: 9 },
  'live vend again': { own: 0, ownShares: 0, following: 4 },
  // Seven: one of them finds whether an invitation of a higher rank promises the address (P1).
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

/** A statement more is in every play, so that none agrees. */
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
