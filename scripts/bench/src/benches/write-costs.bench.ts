/**
 * B16: the processor time of a write in all server processes and PostgreSQL together, from the request until all of its
 * consequences are processed. It is compared with three plain transactions.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { webhookSink } from '@cardea/testing';
import { median, warmUpSeconds } from '../compare.ts';
import {
  type Bench,
  type BenchContext,
  type Measured,
  measureCalls,
  type Row,
  type Side,
  workerSide,
} from '../harness.ts';
import { familyMs, poolThreadsMs } from '../processor-time.ts';
import { type WriteRequests, writeRequests } from '../subjects/write-requests.ts';
import { goalIn, type WholeSystem, wholeSystem } from '../whole-system.ts';

const CALLERS = 4;
const FLOOR = new URL('../workers/three-inserts.worker.ts', import.meta.url);
const ARGON2 = new URL('../workers/argon2.worker.ts', import.meta.url);
/** The parameters of `ARGON2_MEMORY` and `ARGON2_TIME` unless they are set. */
const HASHING = JSON.stringify({ memoryCost: 19_456, timeCost: 2, concurrency: 1 });
const HASH_SECONDS_MAX = 1;
const IDLE_SECONDS = 10;
const IDLE_SECONDS_SMOKE = 0.3;
const MS_PER_SECOND = 1000;

export const benches: readonly Bench[] = [
  { id: 'B16', title: 'processor time of a write, until all that follows is done', run: costs },
];

type Kind = {
  readonly name: string;
  /** The maximum cost, as a multiple of the floor. */
  readonly at_most: number;
  readonly call: (requests: WriteRequests, caller: number) => Promise<unknown>;
  /** Runs before the measurement and is not measured itself. */
  readonly prepare?: (requests: WriteRequests, seconds: number) => Promise<unknown>;
  readonly isExhausted?: (requests: WriteRequests) => boolean;
  /** One hash of a password is subtracted. */
  readonly hashes?: true;
};

const KINDS: readonly Kind[] = [
  { name: 'tuple written', at_most: 2.5, call: (requests) => requests.tuple() },
  { name: 'refresh', at_most: 3, call: (requests) => requests.refresh() },
  {
    name: 'fresh vend',
    at_most: 3,
    prepare: (requests, seconds) => measureCalls(CALLERS, seconds, () => requests.agentSession()),
    isExhausted: (requests) => !requests.hasFreshSessions(),
    call: (requests) => requests.freshVend(),
  },
  { name: 'agent session', at_most: 4, call: (requests) => requests.agentSession() },
  { name: 'user created', at_most: 6, call: (requests) => requests.user() },
  { name: 'user created and told', at_most: 9, call: (requests) => requests.toldUser() },
  {
    name: 'login besides its hash',
    at_most: 6.5,
    hashes: true,
    call: (requests, caller) => requests.logIn(caller),
  },
];

async function costs(context: BenchContext): Promise<readonly Row[]> {
  const system = await wholeSystem(context);
  const sink = await webhookSink();
  context.onEnd(() => sink.close());
  const { smoke, seconds } = context;
  const to = { base: system.base, callers: CALLERS, smoke, receiver: sink.url };
  const { requests, close } = await writeRequests(to);
  context.onEnd(close);
  const floor = await floorSide(context);
  const hashMs = await hashMsOf(context);
  const idleMs = await idleMsPerSecond(system, smoke ? IDLE_SECONDS_SMOKE : IDLE_SECONDS);
  if (!smoke) await warmUp(requests, warmUpSeconds(seconds));
  const rows: Row[] = [];
  for (const kind of KINDS) {
    const { side, lines } = costSide(system, requests, { ...kind, hashMs, idleMs });
    const id = `B16 ${kind.name}`;
    const pair = { id, subject: side, floor, figure: 'cpu_ms' as const };
    const row = await context.compare({ ...pair, ...goalIn(context, { at_most: kind.at_most }) });
    const { cpu_ms: ms = Number.NaN, per_second } = row.subject_measured;
    console.log(`    ${ms.toFixed(2)} CPU-ms, ${per_second.toFixed(0)}/s${lines()}`);
    rows.push(row);
    if (kind.hashes) rows.push(await besideHashes(context, system, requests, { ...kind, idleMs }));
  }
  return rows;
}

/** Warms up all kinds before the first is measured, because they share most of the code that V8 has to compile. */
async function warmUp(requests: WriteRequests, seconds: number): Promise<void> {
  for (const kind of KINDS) {
    await kind.prepare?.(requests, seconds);
    await measureCalls(CALLERS, seconds, ...callsOf(requests, kind));
  }
}

const callsOf = (requests: WriteRequests, kind: Kind) =>
  [
    (caller: number) => kind.call(requests, caller),
    () => kind.isExhausted?.(requests) ?? false,
  ] as const;

/**
 * For information: subtracts from each side what its own thread pool used, and runs the floor's transactions between
 * hashes, too. So the ratio shows what a login costs in addition, not how rarely logins come.
 */
async function besideHashes(
  context: BenchContext,
  system: WholeSystem,
  requests: WriteRequests,
  kind: Omit<MeasuredKind, 'hashMs'>,
): Promise<Row> {
  const { side, lines } = costSide(system, requests, { ...kind, hashMs: undefined });
  const floor = await floorSide(context, [HASHING]);
  const id = `B16 ${kind.name}, as F beside hashes`;
  const row = await context.compare({ id, subject: side, floor, figure: 'cpu_ms' });
  const [ms, floorMs] = [row.subject_measured.cpu_ms, row.floor_measured.cpu_ms];
  console.log(`    ${ms?.toFixed(2)} CPU-ms where F is ${floorMs?.toFixed(2)}${lines()}`);
  return row;
}

async function idleMsPerSecond(system: WholeSystem, seconds: number): Promise<number> {
  await system.level();
  const before = system.processorMs();
  await pause(seconds * MS_PER_SECOND);
  return (system.processorMs() - before) / seconds;
}

/** F: the driver's process and PostgreSQL together. */
async function floorSide(context: BenchContext, hashing: readonly string[] = []): Promise<Side> {
  const args = [await context.database(), String(CALLERS), ...hashing];
  const side = await workerSide(context, 'F: three transactions of one row', FLOOR, args);
  return {
    name: side.name,
    measure: async (seconds) => {
      const before = familyMs(context.postgresPid);
      const measured = await side.measure(seconds);
      const database = (familyMs(context.postgresPid) - before) / (measured.count ?? Number.NaN);
      return { ...measured, cpu_ms: (measured.cpu_ms ?? Number.NaN) + database };
    },
  };
}

type MeasuredKind = Kind & {
  /** Measures the cost of one hash alone. If undefined, the use of the server's thread pool is subtracted instead. */
  readonly hashMs: ((seconds: number) => Promise<number>) | undefined;
  /** The processor time per second of waiting, in milliseconds. */
  readonly idleMs: number;
};

function costSide(system: WholeSystem, requests: WriteRequests, kind: MeasuredKind) {
  const apart = new Map<string, number[]>();
  const measure = async (lasts: number): Promise<Measured> => {
    await kind.prepare?.(requests, lasts);
    const alone = kind.hashes ? await kind.hashMs?.(lasts) : 0;
    await system.level();
    const others = Object.entries(system.apart).map(([name, ms]) => ({ name, ms, before: ms() }));
    const hashingMs = () => system.serverPids.reduce((sum, pid) => sum + poolThreadsMs(pid), 0);
    const [before, hashed, began] = [system.processorMs(), hashingMs(), performance.now()];
    const measured = await measureCalls(CALLERS, lasts, ...callsOf(requests, kind));
    await system.level();
    const count = measured.count ?? Number.NaN;
    // The processor time that the server's threads lose by sharing the caches.
    const pooled = (hashingMs() - hashed) / count;
    const cpu_ms = (system.processorMs() - before) / count - (alone ?? pooled);
    const keep = (name: string, ms: number) => apart.set(name, [...(apart.get(name) ?? []), ms]);
    for (const other of others)
      keep(`beside it ${other.name}`, (other.ms() - other.before) / count);
    if (kind.hashes) {
      if (alone !== undefined) keep('beside it the hash, as it is alone', alone);
      keep('the hash as the server computed it', pooled);
    }
    const seconds = (performance.now() - began) / MS_PER_SECOND;
    // The slower a busy machine is, the more idle time belongs to each request.
    keep('idling in that time', (kind.idleMs * seconds) / count);
    return { ...measured, cpu_ms, rss_mb: Number.NaN };
  };
  const lines = (): string =>
    [...apart].map(([name, all]) => `; ${name} ${median(all).toFixed(2)}`).join('');
  return { side: { name: kind.name, measure }, lines };
}

/** Measures a hash while another core is busy, because that is how the server computes hashes. */
async function hashMsOf(context: BenchContext) {
  const side = await workerSide(context, 'a hash', ARGON2, [HASHING]);
  return async (seconds: number): Promise<number> => {
    const busy = new Worker('for (;;);', { eval: true });
    try {
      return (await side.measure(Math.min(seconds, HASH_SECONDS_MAX))).cpu_ms ?? Number.NaN;
    } finally {
      await busy.terminate();
    }
  };
}
