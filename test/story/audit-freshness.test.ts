/** Tests that a caller who acts and then lists sees the row, even while others write. Prints how long the list took. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTopics, kafkaClient } from '@cardea/event-bus';
import {
  type KafkaServer,
  needKafka,
  processFixture,
  type RestDriver,
  silentLogger,
  startKafka,
  testDatabase,
  testForm,
} from '@cardea/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { instance } from '../faults/instance.ts';

const ACTS = testForm.long ? 200 : 25;
const WRITERS = 4;
const TEST_MS_MAX = 900_000;

const fixture = processFixture();

const tuple = (name: string) => ({
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_id: name,
});

/** Starts writers that write tuples one after another until they are stopped. */
function writersOf(rest: RestDriver) {
  let running = true;
  let written = 0;
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; running; n += 1) {
      const { status, text } = await rest.post('/api/v1/fga/tuples', tuple(`other-${writer}-${n}`));
      if (status !== 201) throw new Error(`${status} ${text}`);
      written += 1;
    }
  };
  const writing = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  return {
    written: () => written,
    stop: async () => {
      running = false;
      await Promise.all(writing);
    },
  };
}

const OWN = { type: 'admin.fga.write_tuple', actor_type: 'admin', limit: 5 };

/**
 * The time for which a list waits for earlier writes. After that it is answered without them (docs/design/audit.md).
 */
const WAITED_MS_MAX = 1_000;
/** The share of acts that may be late, because the machine may be busy. */
const LATE_SHARE_MAX = 0.05;

/** Acts and lists. Returns what was missing even after the longest wait, and how long the lists took. */
async function actAndList(rest: RestDriver) {
  const missing: string[] = [];
  const late: string[] = [];
  const times: number[] = [];
  for (let n = 0; n < ACTS; n += 1) {
    const name = `own-${n}`;
    expect((await rest.post('/api/v1/fga/tuples', tuple(name))).status).toBe(201);
    const asked = performance.now();
    const { status, body, text } = await rest.get('/api/v1/audit/events', { query: OWN });
    expect(status, text).toBe(200);
    const ms = performance.now() - asked;
    times.push(ms);
    const shown = body.events as readonly { readonly details: { readonly object_id?: string } }[];
    if (shown.some(({ details }) => details.object_id === name)) continue;
    (ms < WAITED_MS_MAX ? missing : late).push(name);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { missing, late, p50: at(0.5), p99: at(0.99) };
}

async function story(bus: string, env: { readonly [name: string]: string }): Promise<void> {
  const cardea = await instance(fixture, env);
  await cardea.start();
  const rest = cardea.rest.as(await cardea.admin());
  const key = await rest.post('/api/v1/api-keys', { name: 'others', scopes: ['fga:write'] });
  const others = writersOf(rest.as({ bearer: key.body.key }));
  try {
    const { missing, late, p50, p99 } = await actAndList(rest);
    console.log(
      `first page over ${bus}: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms; ${others.written()} tuples written beside`,
    );
    expect(missing).toEqual([]);
    expect(late.length).toBeLessThanOrEqual(ACTS * LATE_SHARE_MAX);
  } finally {
    await others.stop();
  }
}

const TITLE = 'audit 2 a first page shows what its caller did just before, while four others write';

describe('over topics that are tables', () => {
  const database = testDatabase();
  it(TITLE, { timeout: TEST_MS_MAX }, () => story('tables', { DATABASE_URL: database.url }));
});

describe.runIf(testForm.long)('over Kafka', () => {
  needKafka();
  const database = testDatabase();
  let folder: string | undefined;
  let kafka: KafkaServer | undefined;
  afterAll(async () => {
    await kafka?.kill();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  it(TITLE, { timeout: TEST_MS_MAX }, async () => {
    folder = mkdtempSync(join(tmpdir(), 'cardea-freshness-'));
    kafka = await startKafka({ dataDir: folder });
    const client = kafkaClient({ brokers: kafka.brokers, log: silentLogger });
    await createTopics(client, { replication: 1 });
    const brokers = kafka.brokers.join(',');
    await story('Kafka', { DATABASE_URL: database.url, KAFKA_BROKERS: brokers });
  });
});
