/**
 * The time from the response to a write until its row is in the audit log: over Kafka, and over topics that
 * are tables.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryInstance } from '@cardea/testing';
import { Client } from 'pg';
import type { Bench, BenchContext, Measured, Row, Side } from '../harness.ts';
import { benchKafka } from './relay.bench.ts';

const WRITES_PER_SECOND = 100;
const WANTED_MS = 500;
const LOOK_MS = 5;
const ARRIVAL_MS_MAX = 60_000;
const ADMIN = { email: 'root@example.com', password: 'a password for the benchmark' };

export const benches: readonly Bench[] = [
  {
    id: 'audit-kafka',
    title: 'from the answer to a write to its audit row',
    isLong: true,
    run: arrivals,
  },
];

async function arrivals(context: BenchContext): Promise<readonly Row[]> {
  const kafka = await benchKafka(context);
  if (kafka === undefined) return [];
  const brokers = kafka.brokers.join(',');
  const row = await context.compare({
    id: 'audit-kafka',
    subject: await instanceSide(context, 'over Kafka', { KAFKA_BROKERS: brokers }),
    floor: await instanceSide(context, 'over tables', {}),
    figure: 'p99_ms',
  });
  const { p99_ms } = row.subject_measured;
  console.log(`  p99 over Kafka: ${p99_ms.toFixed(0)} ms (under ${WANTED_MS} wanted)`);
  return [row];
}

async function instanceSide(
  context: BenchContext,
  name: string,
  settings: { readonly [name: string]: string },
): Promise<Side> {
  const url = await context.database();
  const instance = await temporaryInstance(() => undefined, {
    DATABASE_URL: url,
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
    ...settings,
  });
  context.onEnd(() => instance.stop());
  const client = new Client({ connectionString: url });
  await client.connect();
  context.onEnd(() => client.end());
  const headers = await signedIn(instance.base, client);
  return { name, measure: (seconds) => measure({ base: instance.base, headers, client }, seconds) };
}

type Writing = {
  readonly base: string;
  readonly headers: { readonly [name: string]: string };
  readonly client: Client;
};

async function signedIn(base: string, client: Client): Promise<Writing['headers']> {
  const { rows } = await client.query<{ id: string }>('SELECT id FROM identity.tenants LIMIT 1');
  const tenant = rows[0]?.id ?? '';
  const json = { 'content-type': 'application/json', 'x-service-tenant': tenant };
  const body = JSON.stringify(ADMIN);
  const answer = await fetch(`${base}/api/v1/auth/login`, { method: 'POST', headers: json, body });
  if (answer.status !== 200) throw new Error(`login answered ${answer.status}`);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return { ...json, authorization: `Bearer ${token}` };
}

/** Open loop: each write is sent at its time, whatever happened to earlier ones. */
async function measure(writing: Writing, seconds: number): Promise<Measured> {
  const waiting = new Map<string, number>();
  const times: number[] = [];
  const writes: Promise<void>[] = [];
  let errors = 0;
  const since = new Date();
  const start = performance.now();
  const count = Math.max(1, Math.round(seconds * WRITES_PER_SECOND));
  const watching = new AbortController();
  const watched = watch(writing.client, { since, waiting, times, signal: watching.signal });
  for (let nth = 0; nth < count; nth += 1) {
    const due = start + (nth * 1000) / WRITES_PER_SECOND - performance.now();
    if (due > 0) await pause(due);
    const name = `bench-${since.getTime()}-${nth}`;
    const sent = writeTuple(writing, name).then(
      () => void waiting.set(name, performance.now()),
      () => {
        errors += 1;
      },
    );
    writes.push(sent);
  }
  await Promise.all(writes);
  const elapsed = (performance.now() - start) / 1000;
  const deadline = performance.now() + ARRIVAL_MS_MAX;
  while (times.length + errors < count && performance.now() < deadline) await pause(LOOK_MS);
  watching.abort();
  await watched;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  errors += count - errors - times.length;
  return { per_second: count / elapsed, p50_ms: at(0.5), p99_ms: at(0.99), errors };
}

async function writeTuple({ base, headers }: Writing, name: string): Promise<void> {
  const body = JSON.stringify({
    user_type: 'user',
    user_id: 'ann',
    relation: 'viewer',
    object_type: 'document',
    object_id: name,
  });
  const answer = await fetch(`${base}/api/v1/fga/tuples`, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`a write answered ${answer.status}`);
}

type Watched = {
  readonly since: Date;
  /** The times of the responses, by the name of the object. */
  readonly waiting: Map<string, number>;
  readonly times: number[];
  readonly signal: AbortSignal;
};

/** A row that exists before the response arrives counts as 0 ms. */
async function watch(client: Client, { since, waiting, times, signal }: Watched): Promise<void> {
  const told = new Set<string>();
  while (!signal.aborted) {
    const { rows } = await client.query<{ name: string }>(
      `SELECT details->>'object_id' AS name FROM audit.events
       WHERE type = 'admin.fga.write_tuple' AND ts >= $1 AND NOT details->>'object_id' = ANY ($2)`,
      [since, [...told]],
    );
    const now = performance.now();
    for (const { name } of rows) told.add(name);
    for (const [name, answeredAt] of [...waiting]) {
      if (!told.has(name)) continue;
      waiting.delete(name);
      times.push(Math.max(0, now - answeredAt));
    }
    await pause(LOOK_MS);
  }
}
