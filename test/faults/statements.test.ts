/**
 * How often PostgreSQL is asked for one request, when nothing else is going on: by the request itself
 * exactly, by what follows from it at most. Whoever needs a statement more says so in this table.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { processFixture, type WebhookSink, webhookSink } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { instance } from './instance.ts';
import { type Counts, countsOf, idleRate } from './statement-counts.ts';
import { type Logged, loggedPostgres } from './statement-log.ts';
import { countedRequests } from './statement-requests.ts';

const PLAYS = 3;
const SHARED_TRIPS_MAX = 2;
const IDLE_MS = 5_000;
const TEST_MS_MAX = 600_000;

/** `docs/benchmarks.md` shows these beside what a request costs. */
const EXPECTED: { readonly [request: string]: { readonly own: number; readonly atMost: number } } =
  {
    'sign-up': { own: 22, atMost: 120 },
    register: { own: 13, atMost: 105 },
    login: { own: 4, atMost: 24 },
    refresh: { own: 3, atMost: 5 },
    'profile read': { own: 1, atMost: 4 },
    'tuple written': { own: 1, atMost: 17 },
    check: { own: 0, atMost: 4 },
    'API key created': { own: 5, atMost: 22 },
    'agent session': { own: 2, atMost: 28 },
    'fresh vend': { own: 4, atMost: 17 },
    'live vend again': { own: 0, atMost: 4 },
    'user created and told': { own: 8, atMost: 75 },
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
  const counted = new Map<string, Counts>();
  for (const { name, prepare, send } of requests) {
    const plays: Logged[] = [];
    for (let play = 0; play < PLAYS; play += 1) {
      await prepare?.();
      plays.push(await postgres.during(send));
    }
    counted.set(name, countsOf(plays, idle));
  }
  console.log(table(counted, idle));
  // Reads that meet may share a trip, so one fewer is no finding.
  const others = [...counted].filter(([name, { own }]) => {
    const expected = EXPECTED[name]?.own ?? Number.NaN;
    return !(own <= expected && own >= expected - SHARED_TRIPS_MAX);
  });
  expect(others).toEqual([]);
  const more = [...counted].filter(
    ([name, { following }]) => following > (EXPECTED[name]?.atMost ?? 0),
  );
  expect(more).toEqual([]);
  expect(await running.end('SIGTERM')).toBe(0);
});

const table = (counted: ReadonlyMap<string, Counts>, idle: number): string =>
  [
    '| Request | its own | that follow |',
    '|---|---|---|',
    ...[...counted].map(([name, { own, following }]) => `| ${name} | ${own} | ${following} |`),
    `| nothing, for a second | | ${idle.toFixed(1)} |`,
  ].join('\n');
