/** Mixed writes against an instance that may die at any moment, and what must be true afterwards. */
import { type Acked, type AckedSet, ackedSet, type RestDriver, untilTrue } from '@cardea/testing';
import { expect } from 'vitest';

export type Write = { readonly kind: 'tuple' | 'user'; readonly name: string };

const WRITERS = 4;
/** One in this many writes is a user, because a password hash costs as much as many tuples. */
const USER_EVERY = 10;
const PAGE = 1000;
/** Rows from topics may come late, because a killed reader is given up only after a while. */
const CLEAN_MS_MAX = 200_000;
/** After this time a request counts as unanswered. */
const ANSWER_MS_MAX = 30_000;

const tupleOf = (name: string) => ({
  user_type: 'user',
  user_id: `u-${name}`,
  relation: 'viewer',
  object_type: 'document',
  object_id: name,
});

export type Load = { readonly acked: AckedSet<Write>; stop(): Promise<void> };

/** Writes until it is stopped, through outages; 50 writes per second at most. Names begin with `prefix`. */
export function mixedWrites(file: string, rest: () => RestDriver, prefix = ''): Load {
  const acked = ackedSet<Write>(file);
  let running = true;
  let count = 0;
  const writer = async (): Promise<void> => {
    while (running) {
      count += 1;
      const kind = count % USER_EVERY === 0 ? 'user' : 'tuple';
      const write: Write = { kind, name: `${prefix}${kind}-${count}` };
      await acked.send(write, () => send(rest(), write));
      await new Promise((resolve) => setTimeout(resolve, (1000 * WRITERS) / 50));
    }
  };
  const writers = Array.from({ length: WRITERS }, writer);
  return {
    acked,
    async stop() {
      running = false;
      await Promise.all(writers);
    },
  };
}

async function send(rest: RestDriver, { kind, name }: Write): Promise<number> {
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const answer =
    kind === 'tuple'
      ? await rest.call('POST', '/api/v1/fga/tuples', { body: tupleOf(name), signal })
      : await rest.call('POST', '/api/v1/admin/users', {
          body: { email: `${name}@example.com` },
          signal,
        });
  return answer.status;
}

/**
 * Acknowledged writes have their effect once, in model and audit; unknown ones at most once. Tables and the audit log
 * follow the events, also those of unacknowledged writes: a missing row may still come, a duplicate stays.
 */
export async function expectClean(
  rest: RestDriver,
  { acked }: { readonly acked: Pick<Load['acked'], 'read'> },
): Promise<void> {
  const told = acked.read();
  expect(told.refused).toEqual([]);
  expect(told.acked.length).toBeGreaterThan(0);
  await untilTrue(() => expectEffects(rest, told).then(() => true), {
    deadlineMs: CLEAN_MS_MAX,
    what: 'each write has its effect and its row in the audit log once',
  });
}

async function expectEffects(
  rest: RestDriver,
  { acked: sure, unknown }: Acked<Write>,
): Promise<void> {
  const effects = await effectsIn(rest);
  const rows = await auditCounts(rest);
  const must = new Set(sure);
  for (const write of [...sure, ...unknown]) {
    const found = effects[write.kind].get(write.name) ?? 0;
    const told = rows.get(write.name) ?? 0;
    const what = `${write.name}, ${must.has(write) ? 'acknowledged' : 'unknown'}`;
    expect(found, `effects of ${what}`).toBeLessThanOrEqual(1);
    if (must.has(write)) expect(found, `effects of ${what}`).toBe(1);
    if (write.kind === 'tuple') expect(told, `audit rows of ${what}`).toBe(found);
  }
}

type Counts = Map<string, number>;

/** How often each write is found, by its name. */
async function effectsIn(rest: RestDriver): Promise<{ readonly [kind in Write['kind']]: Counts }> {
  const tuples = await allOf(rest, '/api/v1/fga/tuples', ({ tuples }) => tuples);
  const users = await allOf(rest, '/api/v1/admin/users', ({ users }) => users);
  return {
    tuple: countsOf(tuples.map(({ object_id }) => object_id)),
    user: countsOf(users.map(({ email }) => email.split('@')[0] ?? '')),
  };
}

async function allOf(
  rest: RestDriver,
  path: string,
  // biome-ignore lint/suspicious/noExplicitAny: two lists of different shapes, read by one name each
  rowsOf: (body: any) => readonly any[],
  // biome-ignore lint/suspicious/noExplicitAny: as above
): Promise<readonly any[]> {
  const rows: unknown[] = [];
  for (;;) {
    const { status, body } = await rest.get(path, { query: { limit: PAGE, offset: rows.length } });
    expect(status).toBe(200);
    rows.push(...rowsOf(body));
    if (rowsOf(body).length < PAGE) return rows;
  }
}

function countsOf(names: readonly string[]): Counts {
  const counts: Counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Rows of the audit log per object that a tuple was written on. */
async function auditCounts(rest: RestDriver): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await rest.get('/api/v1/audit/events', {
      query: { type: 'admin.fga.write_tuple', limit: PAGE, cursor },
    });
    for (const { details } of body.events) {
      if (details.noop) continue;
      counts.set(details.object_id, (counts.get(details.object_id) ?? 0) + 1);
    }
    cursor = body.next_cursor;
  }
  return counts;
}
