/** The relay's throughput compared with the driver's: log in PostgreSQL, mapping, decrypting, validating, Kafka. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTopics, kafkaClient } from '@cardea/event-bus';
import { logger } from '@cardea/runtime';
import { type KafkaServer, startKafka, whyNoKafka } from '@cardea/testing';
import { type Bench, type BenchContext, type Row, workerSide } from '../harness.ts';
import { fillLog } from '../subjects/relay-log.ts';

const WORKER = new URL('../workers/relay.worker.ts', import.meta.url);
const EVENTS = 30_000;
const EVENTS_SMOKE = 2000;
/** The goal with the broker on the same two cores. It is an absolute figure, so it is printed and not compared. */
const WANTED_PER_SECOND = 8000;

export const benches: readonly Bench[] = [
  {
    id: 'relay-kafka',
    title: 'events per second through one relay to Kafka',
    isLong: true,
    run: relayRate,
  },
];

async function relayRate(context: BenchContext): Promise<readonly Row[]> {
  const kafka = await benchKafka(context);
  if (kafka === undefined) return [];
  const [broker = ''] = kafka.brokers;
  const url = await context.database();
  const events = context.smoke ? EVENTS_SMOKE : EVENTS;
  await fillLog(url, events);
  const side = (name: string, kind: string) =>
    workerSide(context, name, WORKER, [kind, url, broker, `${events}`]);
  const subject = await side('relay', 'relay');
  // The floor sends the records that the relay has sent.
  await subject.measure(0);
  const floor = await side('bare sendBatch of the same records', 'send');
  const row = await context.compare({ id: 'relay-kafka', subject, floor });
  const { per_second } = row.subject_measured;
  console.log(`  ${per_second.toFixed(0)} events/s (${WANTED_PER_SECOND} wanted)`);
  return [row];
}

/** Returns undefined and prints the reason if Kafka cannot be started. */
export const benchKafka = ({ shared }: BenchContext): Promise<KafkaServer | undefined> =>
  shared('Kafka', startBroker);

async function startBroker({ onEnd }: BenchContext): Promise<KafkaServer | undefined> {
  const missing = whyNoKafka();
  if (missing !== undefined) {
    console.log(`  not run: ${missing}`);
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'cardea-bench-kafka-'));
  const kafka = await startKafka({ dataDir: folder });
  onEnd(async () => {
    await kafka.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const log = logger({ service: 'bench', version: '0.1.0', level: 'error' });
  await createTopics(kafkaClient({ brokers: kafka.brokers, log }), { replication: 1 });
  return kafka;
}
