/** An instance whose topics are on a real broker, which is killed under load and restarted later. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IntegrationEvent, topicOf } from '@cardea/contracts';
import { createTopics, kafkaClient, readTopic } from '@cardea/event-bus';
import {
  type FixtureProcess,
  type KafkaServer,
  needKafka,
  processFixture,
  type RestDriver,
  silentLogger,
  startKafka,
  testDatabase,
  testForm,
  untilTrue,
} from '@cardea/testing';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { type Instance, instance } from './instance.ts';
import { expectInOrder, tuplesMissing } from './topic.ts';
import { expectClean, mixedWrites } from './writes.ts';

const CALM_MS = 3000;
const AWAY_MS = testForm.long ? 300_000 : 10_000;
/** Many times longer than an idle machine takes. */
const WELL_AGAIN_MS = 180_000;
const SEEN_MS_MAX = 120_000;
const GROWTH_MB_MAX = 100;
const LOOKS_COMPARED = 20;

needKafka();
const fixture = processFixture();
const database = testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'cardea-kafka-'));
let kafka: KafkaServer | undefined;
afterAll(async () => {
  await kafka?.kill();
  rmSync(folder, { recursive: true, force: true });
});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('R9 Kafka killed under load costs the API nothing, shows as degraded, and drains in order when it is back', {
  timeout: AWAY_MS + 600_000,
}, async () => {
  kafka = await startKafka({ dataDir: folder });
  const client = kafkaClient({ brokers: kafka.brokers, log: silentLogger });
  await createTopics(client, { replication: 1 });
  const cardea = await instance(fixture, {
    DATABASE_URL: database.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
  });
  const running = await cardea.start();
  const rest: RestDriver = cardea.rest.as(await cardea.admin());
  const load = mixedWrites(join(cardea.folder, 'acked'), () => rest);
  onTestFinished(() => load.stop());
  await untilTrue(async () => (await readiness(cardea)).status === 'ready', {
    deadlineMs: SEEN_MS_MAX,
    what: 'the instance is ready',
  });
  await pause(CALM_MS);

  const calmMb = residentMb(running);
  await kafka.kill();
  const seen = await watched(cardea, running, AWAY_MS);
  expect([...seen.said]).toEqual(['ready']);
  expect(seen.megabytes - calmMb).toBeLessThan(GROWTH_MB_MAX);

  await kafka.restart();
  await untilTrue(async () => (await readiness(cardea)).status === 'ready', {
    deadlineMs: WELL_AGAIN_MS,
    what: 'the instance gets on again',
  });
  await pause(CALM_MS);
  await load.stop();
  expect(load.acked.read().unknown).toEqual([]);
  const events = await untilTrue(
    async () => {
      const found = await readTopic(client, topicOf('authz'));
      const lying = found.map(({ event }) => event as IntegrationEvent);
      return tuplesMissing(load, lying) === 0 ? lying : undefined;
    },
    { deadlineMs: WELL_AGAIN_MS, what: 'every acknowledged tuple is on the topic' },
  );
  expectInOrder(events);
  await expectClean(rest, load);
  await kafka.kill();
  await untilTrue(async () => (await readiness(cardea)).status === 'degraded', {
    deadlineMs: SEEN_MS_MAX,
    what: 'readiness says that something is away',
  });
  expect(await running.end('SIGTERM')).toBe(0);
});

async function readiness(cardea: Instance): Promise<{ said: string; status: string }> {
  const answer = await fetch(`${cardea.management}/readyz`);
  const body = (await answer.json()) as { status: string };
  const said = answer.ok ? 'ready' : `${answer.status} ${JSON.stringify(body)}`;
  return { said, status: body.status };
}

/**
 * The readiness text while the broker is down, until readiness reports it, and the process's size at that time. The
 * size is the minimum of the last samples, because garbage is collected and what waits for the broker stays.
 */
async function watched(cardea: Instance, running: FixtureProcess, ms: number) {
  const seen = { said: new Set<string>(), megabytes: Number.POSITIVE_INFINITY };
  const recent: number[] = [];
  const enough = performance.now() + ms;
  let missed = false;
  const look = async (): Promise<boolean> => {
    const { said, status } = await readiness(cardea);
    seen.said.add(said);
    missed ||= status === 'degraded';
    recent.push(residentMb(running));
    seen.megabytes = Math.min(...recent.slice(-LOOKS_COMPARED));
    await pause(250);
    return missed && performance.now() >= enough;
  };
  await untilTrue(look, { deadlineMs: ms + SEEN_MS_MAX, what: 'readiness says degraded' });
  return seen;
}

function residentMb({ pid }: FixtureProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
