import { setImmediate as nextTurn } from 'node:timers/promises';
import { type FakeClock, fakeClock, systemClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { RequestTurns } from './request-turns.ts';

const START = '2026-01-01T00:00:00Z';
const MANY = 200;
const BEGIN_MAX = 16;
const UNDER_WAY_MAX = 64;
const UNDER_WAY_MS_MAX = 100;
const WITHOUT_LINE_MAX = 2;
/** The least share of the time for which requests of a line are under way on a busy thread. */
const SHARE_MIN = 1 / 8;
const WORK_MS = 3;
const IDLE = () => 0;

/** Requests of `caller`, in the order in which they begin. Each ends at once. */
function requests(turns: RequestTurns, begun: string[], work = () => {}) {
  return (caller: string, count = 1): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const request = await turns.begin(caller);
        begun.push(caller);
        work();
        if (request !== undefined) turns.end(request);
      }),
    );
}

/** Requests of `caller` that never end. Returns those that have begun. */
function endless(turns: RequestTurns, caller: string, count: number) {
  const begun: object[] = [];
  for (let at = 0; at < count; at++) {
    void Promise.resolve(turns.begin(caller)).then((request) => begun.push(request as object));
  }
  return begun;
}

function compute(): void {
  const startMs = performance.now();
  while (performance.now() - startMs < WORK_MS);
}

async function turnsOfLoop(count: number, work = () => {}): Promise<void> {
  for (let at = 0; at < count; at++) {
    await nextTurn();
    work();
  }
}

describe('C1 the turns of requests', () => {
  it('C1 never make a tenant wait that is alone', () => {
    const turns = new RequestTurns(fakeClock(START));
    const begun = Array.from({ length: MANY }, () => turns.begin('noisy'));
    expect(begun.filter((each) => each !== undefined)).toEqual([]);
  });

  it('C1 let the request of another tenant begin before the many of a noisy one', async () => {
    const turns = new RequestTurns(fakeClock(START));
    expect(turns.begin('victim')).toBeUndefined();
    const begun: string[] = [];
    const add = requests(turns, begun);
    const noisy = add('noisy', MANY);
    const victim = add('victim', 2);
    await victim;
    expect(begun.length).toBeLessThanOrEqual(2 * BEGIN_MAX + 2);
    await noisy;
    expect(begun.filter((caller) => caller === 'noisy')).toHaveLength(MANY);
  });

  it('C1 let fewer begin in a turn of the event loop the longer their work takes', async () => {
    const turns = new RequestTurns(systemClock);
    expect(turns.begin('victim')).toBeUndefined();
    const begun: string[] = [];
    const all = requests(turns, begun, compute)('noisy', 3 * BEGIN_MAX);
    const perTurn: number[] = [];
    while (begun.length < 3 * BEGIN_MAX) {
      const before = begun.length;
      await nextTurn();
      perTurn.push(begun.length - before);
    }
    await all;
    expect(perTurn.slice(-5).every((count) => count <= 1)).toBe(true);
  });

  it('C1 count no request that has been under way for long', async () => {
    const clock = fakeClock(START);
    const turns = new RequestTurns(clock, IDLE);
    expect(turns.begin('victim')).toBeUndefined();
    const begun = endless(turns, 'noisy', MANY);
    await turnsOfLoop(MANY);
    expect(begun).toHaveLength(UNDER_WAY_MAX);
    await clock.advance(UNDER_WAY_MS_MAX);
    await turnsOfLoop(MANY);
    expect(begun).toHaveLength(2 * UNDER_WAY_MAX);
  });

  it('C1 let the next begin when one ends', async () => {
    const turns = new RequestTurns(fakeClock(START));
    expect(turns.begin('victim')).toBeUndefined();
    const begun = endless(turns, 'noisy', MANY);
    await turnsOfLoop(MANY);
    turns.end(begun[0] as Parameters<RequestTurns['end']>[0]);
    await turnsOfLoop(3);
    expect(begun).toHaveLength(UNDER_WAY_MAX + 1);
  });

  it('C1 end a second after the last request of another tenant', async () => {
    const clock = fakeClock(START);
    const turns = new RequestTurns(clock);
    expect(turns.begin('victim')).toBeUndefined();
    await requests(turns, [])('noisy', MANY);
    await clock.advance(1_001);
    const alone = Array.from({ length: MANY }, () => turns.begin('noisy'));
    expect(alone.filter((each) => each !== undefined)).toEqual([]);
  });
});

type Sequence = { beganMs: number[]; underWayMs: number };

/** Clients that send one request after another, each of which is under way for `workMs`. */
function clients(
  { turns, clock }: { readonly turns: RequestTurns; readonly clock: FakeClock },
  { caller, count = 1, workMs, pauseMs = 0 }: Flooding,
): Sequence {
  const sequence: Sequence = { beganMs: [], underWayMs: 0 };
  const client = async (): Promise<void> => {
    for (;;) {
      const askedMs = clock.monotonicMs();
      const request = await turns.begin(caller);
      sequence.beganMs.push(clock.monotonicMs() - askedMs);
      await clock.sleep(workMs);
      sequence.underWayMs += workMs;
      if (request !== undefined) turns.end(request);
      await clock.sleep(pauseMs);
    }
  };
  for (let at = 0; at < count; at++) void client();
  return sequence;
}
type Flooding = {
  readonly caller: string;
  readonly count?: number;
  readonly workMs: number;
  readonly pauseMs?: number;
};

const CALM = { caller: 'calm', workMs: 1, pauseMs: 9 };
const NOISY = { caller: 'noisy', count: 20, workMs: 10 };

async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let at = 0; at < ms; at++) await clock.advance(1);
}

/**
 * Plays clients on a thread that works for the share `work` of its time. Returns for each of them the share of a second
 * for which its requests were under way, and the longest wait.
 */
async function shares(floods: readonly Flooding[], work = 1) {
  const clock = fakeClock(START);
  const turns = new RequestTurns(clock, () => work * clock.monotonicMs());
  const running = floods.map((flood) => clients({ turns, clock }, flood));
  await pass(clock, 1_000);
  for (const each of running) {
    each.underWayMs = 0;
    each.beganMs = [];
  }
  await pass(clock, 1_000);
  return running.map(({ underWayMs, beganMs }) => ({
    share: underWayMs / 1_000,
    waitedMs: Math.max(...beganMs),
  }));
}

describe('C1 lines on a busy thread', () => {
  it('C1 rest beside a calm tenant, which never waits', async () => {
    const [calm, noisy] = await shares([CALM, NOISY]);
    expect(calm?.waitedMs).toBe(0);
    expect(noisy?.share).toBeGreaterThan(SHARE_MIN / 2);
    expect(noisy?.share).toBeLessThan(SHARE_MIN * 1.5);
  });

  it('C1 do not rest where every tenant has a line', async () => {
    const [one, other] = await shares([NOISY, { ...NOISY, caller: 'other' }]);
    expect(one?.share).toBeGreaterThan(0.8);
    expect(other?.share).toBeGreaterThan(0.8);
  });

  it('C1 do not rest on an idle thread', async () => {
    const [, noisy] = await shares([CALM, NOISY], 0);
    expect(noisy?.share).toBeGreaterThan(15);
  });

  it('C1 rest for the work of the thread, and not for what their requests wait for', async () => {
    const [, busy] = await shares([CALM, NOISY], 1);
    const [calm, waiting] = await shares([CALM, NOISY], 0.6);
    expect(waiting?.share).toBeGreaterThan(1.3 * (busy?.share ?? 1));
    expect(calm?.waitedMs).toBe(0);
  });

  it('C1 do not form from two requests at a time', async () => {
    const [, noisy] = await shares([CALM, { ...NOISY, count: WITHOUT_LINE_MAX }]);
    expect(noisy?.waitedMs).toBe(0);
  });

  it('C1 do not form from two requests at a time that meet a full turn', async () => {
    const turns = new RequestTurns(fakeClock(START));
    expect(turns.begin('victim')).toBeUndefined();
    const noisy = requests(turns, [])('noisy', MANY);
    for (let at = 0; at < BEGIN_MAX; at++) {
      const [one, other] = [turns.begin(`calm${at}`), turns.begin(`calm${at}`)];
      expect([one, other].filter((each) => each instanceof Promise)).toEqual([]);
    }
    await noisy;
  });

  it('C1 do not rest for a tenant that takes no more of the thread than others', async () => {
    const others = ['a', 'b', 'c', 'd'].map((caller) => ({ ...NOISY, caller, count: 2 }));
    const [line, one] = await shares([{ ...NOISY, count: 3 }, ...others]);
    expect(line?.share).toBeGreaterThan(0.9 * (one?.share ?? 1));
  });

  it('C1 go on without rests once the calm tenant has left', async () => {
    const clock = fakeClock(START);
    const turns = new RequestTurns(clock, () => clock.monotonicMs());
    expect(turns.begin('calm')).toBeUndefined();
    const noisy = clients({ turns, clock }, NOISY);
    await pass(clock, 500);
    void turns.begin('calm');
    await pass(clock, 3_000);
    noisy.underWayMs = 0;
    await pass(clock, 500);
    expect(noisy.underWayMs).toBeGreaterThan(400);
  });

  it('C1 rest between the parts of a long request too', async () => {
    const clock = fakeClock(START);
    const turns = new RequestTurns(clock, () => clock.monotonicMs());
    const calm = clients({ turns, clock }, CALM);
    await pass(clock, 500);
    let parts = 0;
    void (async () => {
      for (let begun = await turns.begin('export'); ; parts++) {
        await clock.sleep(10);
        begun = await turns.next('export', begun);
      }
    })();
    await pass(clock, 500);
    parts = 0;
    await pass(clock, 1_000);
    expect(parts).toBeGreaterThan(5);
    expect(parts).toBeLessThan(20);
    expect(Math.max(...calm.beganMs)).toBeLessThanOrEqual(1);
  });

  it('lets the parts of a long request of a single tenant follow each other at once', () => {
    const turns = new RequestTurns(fakeClock(START));
    const begun = turns.begin('export');
    expect(begun).toBeUndefined();
    expect(turns.next('export', undefined)).toBeUndefined();
  });
});
