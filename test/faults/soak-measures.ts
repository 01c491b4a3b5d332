/**
 * The measurements of a process during a soak: times per kind of request, its memory, its handles, its own counters.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { RestDriver } from '@cardea/testing';
import type { Timed, Written } from './soak-work.ts';

const LOOK_EVERY_MS = 5_000;
const PAGE = 1_000;
/**
 * The number of equal parts of the time for which memory is shown. They show whether it still grows at the end, or
 * caches were filling.
 */
const MEMORY_SHOWN = 6;
/** The share of the time in which caches fill. It is not measured. */
const WARM_UP_SHARE = 1 / 3;
const MINUTE_MS = 60_000;
const KB_PER_MB = 1_024;

type Look = { readonly atMs: number; readonly anonymousMb: number; readonly handles: number };
export type Figures = {
  readonly looks: readonly Look[];
  readonly poolTimeouts: number;
  readonly nestedConnections: number;
};

/**
 * Samples a process every few seconds until it is stopped. Counts only what comes after the start of all six services.
 */
export async function measured(pid: number, management: string) {
  const before = await countersOf(management);
  const started = performance.now();
  const looks: Look[] = [];
  const look = (): void => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const anonymousMb = Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) / KB_PER_MB;
    const handles = readdirSync(`/proc/${pid}/fd`).length;
    looks.push({ atMs: performance.now() - started, anonymousMb, handles });
  };
  look();
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    stop: async (): Promise<Figures> => {
      clearInterval(timer);
      look();
      const { poolTimeouts, nestedConnections } = await countersOf(management);
      return {
        looks,
        poolTimeouts: poolTimeouts - before.poolTimeouts,
        nestedConnections: nestedConnections - before.nestedConnections,
      };
    },
  };
}

async function countersOf(management: string): Promise<Omit<Figures, 'looks'>> {
  const text = await (await fetch(`${management}/metrics`)).text();
  const sumOf = (name: string): number =>
    [...text.matchAll(new RegExp(`^cardea_${name}(?:\\{[^}]*\\})? (\\d+)$`, 'gm'))]
      .map(([, value]) => Number(value))
      .reduce((sum, each) => sum + each, 0);
  return {
    poolTimeouts: sumOf('pool_timeouts_total'),
    nestedConnections: sumOf('nested_connections_total'),
  };
}

const percentile = (times: readonly Timed[], share: number): number => {
  const sorted = times.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
};

/** Megabytes a minute, by least squares, after warming up. */
function memorySlope(looks: readonly Look[]): number {
  const warm = looks.slice(Math.floor(looks.length * WARM_UP_SHARE));
  const meanOf = (values: readonly number[]) =>
    values.reduce((sum, each) => sum + each, 0) / values.length;
  const x = meanOf(warm.map(({ atMs }) => atMs));
  const y = meanOf(warm.map(({ anonymousMb }) => anonymousMb));
  const over = warm.reduce((sum, { atMs, anonymousMb: mb }) => sum + (atMs - x) * (mb - y), 0);
  const under = warm.reduce((sum, { atMs }) => sum + (atMs - x) ** 2, 0);
  return under === 0 ? 0 : (over / under) * MINUTE_MS;
}

/** Lines for users to read. */
export function report(
  times: ReadonlyMap<string, readonly Timed[]>,
  { looks, poolTimeouts, nestedConnections }: Figures,
  forMs: number,
): readonly string[] {
  const count = [...times.values()].reduce((sum, { length }) => sum + length, 0);
  const kinds = [...times].map(([kind, all]) => {
    const [first, last] = [all.filter(inThird(0, forMs)), all.filter(inThird(2, forMs))];
    const ms = (of: readonly Timed[], share: number) =>
      percentile(of, share).toFixed(0).padStart(6);
    const thirds = `p99 of the first and last third${ms(first, 0.99)}${ms(last, 0.99)}`;
    return `${kind.padEnd(14)}${String(all.length).padStart(7)}  p50${ms(all, 0.5)}  p99${ms(all, 0.99)}  ${thirds}`;
  });
  const [start, end] = [looks[0], looks.at(-1)];
  const memory = Array.from({ length: MEMORY_SHOWN + 1 }, (_, at) =>
    looks[Math.round(((looks.length - 1) * at) / MEMORY_SHOWN)]?.anonymousMb.toFixed(0),
  );
  return [
    `R17: ${count} requests, ${(count / (forMs / 1000)).toFixed(0)}/s; times in ms`,
    ...kinds,
    `anonymous memory ${memory.join(' → ')} MB, ${memorySlope(looks).toFixed(2)} MB/min when warm; handles ${start?.handles} → ${end?.handles}; pool timeouts ${poolTimeouts}, nested connections ${nestedConnections}`,
  ];
}

const READS: ReadonlySet<string> = new Set(['check', 'list', 'audit page']);
const P99_OVER_P50_MAX = 10;
const AUDIT_PAGE_P99_MS_MAX = 200;
const SLOPE_MB_PER_MINUTE_MAX = 1;
const LATER_OVER_EARLIER_MAX = 2;
/** The number of handles that may be added, because connections are opened and closed. */
const HANDLES_MORE_MAX = 10;

/** Returns what a long soak must keep within bounds and did not, a sentence each. */
export function outOfBounds(
  times: ReadonlyMap<string, readonly Timed[]>,
  { looks }: Figures,
  forMs: number,
): readonly string[] {
  const broken: string[] = [];
  const bound = (what: string, value: number, most: number): void => {
    if (value > most) broken.push(`${what}: ${value.toFixed(1)} is more than ${most.toFixed(1)}`);
  };
  for (const [kind, all] of times) {
    const p99 = percentile(all, 0.99);
    if (!READS.has(kind)) bound(`p99 of ${kind}`, p99, P99_OVER_P50_MAX * percentile(all, 0.5));
    if (kind === 'audit page') bound('p99 of the first audit page', p99, AUDIT_PAGE_P99_MS_MAX);
    const [first, last] = [0, 2].map((third) =>
      percentile(all.filter(inThird(third, forMs)), 0.99),
    );
    bound(`p99 of ${kind} in the last third`, last ?? 0, LATER_OVER_EARLIER_MAX * (first ?? 0));
  }
  bound('anonymous memory in MB/min', memorySlope(looks), SLOPE_MB_PER_MINUTE_MAX);
  const third = Math.floor(looks.length / 3);
  const most = (from: number, to: number) =>
    Math.max(...looks.slice(from, to).map(({ handles }) => handles));
  bound('handles', most(2 * third, looks.length), most(third, 2 * third) + HANDLES_MORE_MAX);
  return broken;
}

const inThird =
  (third: number, forMs: number) =>
  ({ atMs }: Timed): boolean =>
    atMs >= (forMs * third) / 3 && atMs < (forMs * (third + 1)) / 3;

export const printed = (lines: readonly string[]): void => console.log(lines.join('\n'));

/** Returns the writes that have no row in the audit log, or more than one. */
export async function auditTargets(admin: RestDriver, written: Written) {
  const due: { readonly [type: string]: ReadonlySet<string> } = {
    'admin.user.create': written.usersCreated,
    'admin.user.delete': written.usersDeleted,
    'admin.fga.write_tuple': written.tuplesWritten,
    'admin.fga.delete_tuple': written.tuplesDeleted,
  };
  const missing: string[] = [];
  const twice: string[] = [];
  for (const [type, ids] of Object.entries(due)) {
    const rows = await rowsOf(admin, type);
    for (const id of ids) {
      const times = rows.get(id) ?? 0;
      if (times === 0) missing.push(`${type} ${id}`);
      if (times > 1) twice.push(`${type} ${id}`);
    }
  }
  return { missing, twice };
}

/** How many rows of a type name each user or tuple. */
async function rowsOf(admin: RestDriver, type: string): Promise<ReadonlyMap<string, number>> {
  const rows = new Map<string, number>();
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await admin.get('/api/v1/audit/events', {
      query: { type, limit: PAGE, cursor },
    });
    for (const { target_id, details } of body.events) {
      const id = details.object_id ?? target_id;
      rows.set(id, (rows.get(id) ?? 0) + 1);
    }
    cursor = body.next_cursor;
  }
  return rows;
}
