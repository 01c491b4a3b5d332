import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { type Outbox, outboxLoop } from './outbox.ts';

type Job = {
  readonly id: number;
  readonly line: string;
  readonly tenant: string;
  attempts: number;
  at: Date;
};
const START = '2026-01-01T00:00:00Z';
const quiet = () => {
  const said: string[] = [];
  const warned: object[] = [];
  const log = {
    debug() {},
    info() {},
    warn: (fields: object) => void warned.push(fields),
    error: (_fields: object, message: string) => void said.push(message),
    child: () => log,
  };
  return { log, said, warned };
};

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

function fixture(send: (job: Job) => Promise<void>, more: Partial<Outbox<Job>> = {}) {
  const clock = fakeClock(START);
  const { log, said, warned } = quiet();
  const queue: Job[] = [];
  let underWay = 0;
  const outbox: Outbox<Job> = {
    name: 'mail',
    due: async ({ until }, limit) =>
      queue
        .filter(({ at }) => at <= until)
        .sort((a, b) => a.at.getTime() - b.at.getTime())
        .slice(0, limit),
    dueAt: ({ at }) => at,
    tenantOf: ({ tenant }) => tenant,
    keyOf: ({ id }) => String(id),
    lineOf: ({ line }) => line,
    send: async (job) => {
      underWay += 1;
      await send(job).finally(() => {
        underWay -= 1;
      });
      queue.splice(queue.indexOf(job), 1);
    },
    retryAfterMs: [1_000, 5_000],
    putOff: async (job, next) => void Object.assign(job, next),
    ...more,
  };
  const add = (id: number, line = String(id), tenant = 'acme') =>
    void queue.push({ id, line, tenant, attempts: 0, at: new Date(START) });
  const rests: number[] = [];
  /** Runs until the queue has no more work now, and again after each of the pauses. */
  const turn = async (pausesMs: readonly number[] = [], isIdle = () => underWay === 0) => {
    const left = [...pausesMs];
    const stop = new AbortController();
    let isWoken = false;
    const signal = {
      wake: () => {
        isWoken = true;
      },
      rest: async (ms: number) => {
        do await tick();
        while (!isIdle());
        const pauseMs = isWoken ? 0 : left.shift();
        if (!isWoken) rests.push(ms);
        isWoken = false;
        if (pauseMs === undefined) stop.abort();
        else await clock.advance(pauseMs);
      },
    };
    await outboxLoop(outbox, { clock, log, signal }).run(
      stop.signal,
      () => {},
      () => {},
    );
  };
  return { clock, said, warned, queue, add, turn, rests };
}

describe('mail that waits', () => {
  it('is sent: one line in order, lines side by side', async () => {
    const sent: number[] = [];
    const slow = async ({ id }: Job) => {
      if (id === 1) await tick();
      sent.push(id);
    };
    const { add, turn, queue } = fixture(slow);
    add(1, 'ann');
    add(2, 'ann');
    add(3, 'bob');
    await turn();
    expect(sent).toEqual([3, 1, 2]);
    expect(queue).toEqual([]);
  });

  it('is waited for until the next is due, and looked for after 10 s', async () => {
    const { add, turn, queue, rests } = fixture(async () => {});
    await turn();
    add(1);
    for (const job of queue) job.at = new Date(Date.parse(START) + 4_000);
    await turn();
    for (const job of queue) job.at = new Date(Date.parse(START) + 60_000);
    await turn();
    expect(rests).toEqual([10_000, 4_000, 10_000]);
  });

  it('is read and sent without a pause while more of it is due', async () => {
    const sent: number[] = [];
    const { add, turn, rests } = fixture(async ({ id }) => void sent.push(id));
    for (let id = 0; id < 100; id += 1) add(id);
    await turn();
    expect(sent).toHaveLength(100);
    expect(rests).toHaveLength(1);
  });

  it('C1 has places left while another tenant fills its share, and that tenant gets no more', async () => {
    const sent: string[] = [];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { add, turn } = fixture(async ({ tenant }) => {
      sent.push(tenant);
      if (tenant === 'noisy') await released;
    });
    for (let id = 0; id < 20; id += 1) add(id, String(id), 'noisy');
    for (let id = 20; id < 25; id += 1) add(id, String(id), 'victim');
    const turning = turn([], () => sent.length === 25);
    while (sent.filter((tenant) => tenant === 'victim').length < 5) await tick();
    expect(sent.filter((tenant) => tenant === 'noisy')).toHaveLength(6);
    release();
    await turning;
    expect(sent).toHaveLength(25);
  });

  it('is not sent anew while it stays in the queue for a moment after it was sent', async () => {
    const sent: number[] = [];
    const { add, turn } = fixture(async () => {}, {
      send: async ({ id }) => void sent.push(id),
    });
    add(1);
    await turn([999]);
    expect(sent).toEqual([1]);
    sent.length = 0;
    await turn([999, 1]);
    expect(sent).toEqual([1, 1]);
  });

  it('is tried again after its pauses, the last of which is repeated', async () => {
    let tries = 0;
    const { add, turn, clock } = fixture(async () => {
      tries += 1;
      throw new Error('away');
    });
    add(1);
    for (const [afterMs, expected] of [
      [0, 1],
      [999, 1],
      [1, 2],
      [5_000, 3],
      [5_000, 4],
    ] as const) {
      await clock.advance(afterMs);
      await turn();
      expect(tries).toBe(expected);
    }
  });

  it('is given up after the last pause where the queue says so, with an alarm', async () => {
    const given: number[] = [];
    const { add, turn, clock, said, queue } = fixture(() => Promise.reject(new Error('away')), {
      giveUp: async (job) => {
        given.push(job.id);
        queue.length = 0;
      },
    });
    add(1);
    for (const afterMs of [0, 1_000, 5_000]) {
      await clock.advance(afterMs);
      await turn();
    }
    expect(given).toEqual([1]);
    expect(said).toEqual(['mail was given up']);
  });

  it('is named in the log as its queue wants it', async () => {
    const { add, turn, warned } = fixture(() => Promise.reject(new TypeError('away')), {
      loggedOf: ({ line }) => ({ to: line }),
    });
    add(1, 'ann');
    await turn();
    expect(warned).toEqual([{ queue: 'mail', to: 'ann', attempts: 1, error: 'TypeError' }]);
  });

  it('stays in the queue while the store is away too', async () => {
    const { add, turn, queue } = fixture(() => Promise.reject(new Error('away')), {
      putOff: () => Promise.reject(new Error('store away')),
    });
    add(1);
    await turn();
    expect(queue).toMatchObject([{ attempts: 0 }]);
  });

  it('stays where nothing can be sent, and the log says so once', async () => {
    const sent: number[] = [];
    const { add, turn, said, queue } = fixture(async ({ id }) => void sent.push(id), {
      cannotSend: 'mail waits',
    });
    await turn();
    expect(said).toEqual([]);
    add(1);
    await turn();
    expect(sent).toEqual([]);
    expect(queue).toHaveLength(1);
    expect(said).toEqual(['mail waits']);
  });
});
