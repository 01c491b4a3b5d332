/** Mixed writes against an instance that may die at any moment, and what must be true afterwards. */
import { type AckedSet, ackedSet, type RestDriver, untilTrue } from '@cardea/testing';
import { expect } from 'vitest';

export type Write = { readonly kind: 'tuple' | 'user'; readonly name: string };

const WRITERS = 4;
/** Every so many writes one is a user; a password hash costs as much as many tuples. */
const USER_EVERY = 10;
const PAGE = 1000;
const AUDITED_MS_MAX = 90_000;

const tupleOf = (name: string) => ({
  user_type: 'user',
  user_id: `u-${name}`,
  relation: 'viewer',
  object_type: 'document',
  object_id: name,
});

export type Load = { readonly acked: AckedSet<Write>; stop(): Promise<void> };

/** Writes until it is stopped, through outages; 50 writes per second at most. */
export function mixedWrites(file: string, rest: () => RestDriver): Load {
  const acked = ackedSet<Write>(file);
  let running = true;
  let count = 0;
  const writer = async (): Promise<void> => {
    while (running) {
      count += 1;
      const kind = count % USER_EVERY === 0 ? 'user' : 'tuple';
      const write: Write = { kind, name: `${kind}-${count}` };
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
  const signal = AbortSignal.timeout(10_000);
  const answer =
    kind === 'tuple'
      ? await rest.call('POST', '/api/v1/fga/tuples', { body: tupleOf(name), signal })
      : await rest.call('POST', '/api/v1/admin/users', {
          body: { email: `${name}@example.com` },
          signal,
        });
  return answer.status;
}

/** Topics may bring rows late, where a reader that was killed is given up only after a while. */
export async function untilAudited(rest: RestDriver, { acked }: Load): Promise<void> {
  const tuples = acked.read().acked.filter(({ kind }) => kind === 'tuple');
  const all = async () => {
    const rows = await auditCounts(rest);
    return tuples.every(({ name }) => rows.has(name));
  };
  await untilTrue(all, { deadlineMs: AUDITED_MS_MAX, what: 'every write stands in the audit log' });
}

/** Acknowledged writes have their effect once, in model and audit; unknown ones at most once. */
export async function expectClean(rest: RestDriver, { acked }: Load): Promise<void> {
  const { acked: sure, unknown, refused } = acked.read();
  expect(refused).toEqual([]);
  expect(sure.length).toBeGreaterThan(0);
  const rows = await auditCounts(rest);
  for (const write of [...sure, ...unknown]) {
    const must = sure.includes(write);
    const found = await effectsOf(rest, write);
    const told = rows.get(write.name) ?? 0;
    const what = `${write.name}, ${must ? 'acknowledged' : 'unknown'}`;
    expect(found, `effects of ${what}`).toBeLessThanOrEqual(1);
    if (must) expect(found, `effects of ${what}`).toBe(1);
    if (write.kind === 'tuple') expect(told, `audit rows of ${what}`).toBe(found);
  }
}

async function effectsOf(rest: RestDriver, { kind, name }: Write): Promise<number> {
  const query = kind === 'tuple' ? { object_id: name } : { email: `${name}@example.com` };
  const path = kind === 'tuple' ? '/api/v1/fga/tuples' : '/api/v1/admin/users';
  const { status, body } = await rest.get(path, { query });
  expect(status).toBe(200);
  return body.total;
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
