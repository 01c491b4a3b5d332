/**
 * A backup is made under load, the database is lost, and the backup is restored into an empty one. Topics and consumers
 * continue, although the logs assign positions again that the topics have seen.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IntegrationEvent, topicOf } from '@cardea/contracts';
import { createTopics, kafkaClient, readTopic } from '@cardea/event-bus';
import {
  type Acked,
  type KafkaServer,
  needKafka,
  processFixture,
  programOf,
  type RestDriver,
  silentLogger,
  startKafka,
  testDatabase,
  testForm,
  untilTrue,
} from '@cardea/testing';
import { afterAll, expect, it } from 'vitest';
import { emptyDatabases } from '../../services/standalone/test/empty-databases.ts';
import { instance } from './instance.ts';
import { expectInOrder, tuplesMissing } from './topic.ts';
import { expectClean, type Load, mixedWrites, type Write } from './writes.ts';

const CARDEA = programOf(new URL('../../services/standalone/src/cardea.ts', import.meta.url));
/** A user is three events, a tuple one. */
const WRITES = testForm.long ? 20_000 : 60;
const NEW_WRITES = testForm.long ? 850 : 260;
const WRITES_MS_MAX = testForm.long ? 3600_000 : 300_000;

needKafka();
const fixture = processFixture();
const database = testDatabase();
const empty = emptyDatabases(() => database.url);
const folder = mkdtempSync(join(tmpdir(), 'cardea-kafka-'));
let kafka: KafkaServer | undefined;
afterAll(async () => {
  await kafka?.kill();
  await empty.drop();
  rmSync(folder, { recursive: true, force: true });
});

it('R14 a backup made under load is restored, and every consumer applies what is new once', {
  timeout: 3 * WRITES_MS_MAX + 300_000,
}, async () => {
  kafka = await startKafka({ dataDir: folder });
  const client = kafkaClient({ brokers: kafka.brokers, log: silentLogger });
  await createTopics(client, { replication: 1 });
  const env = { DATABASE_URL: database.url, KAFKA_BROKERS: kafka.brokers.join(',') };
  const cardea = await instance(fixture, env);
  const command = async (...words: readonly string[]) => {
    const of = { name: `cardea-${words[0]}`, script: CARDEA };
    const args = [...words, '--data', cardea.folder, '--json'];
    const running = await fixture.start({ ...of, args, env: { ...env, KAFKA_REPLICATION: '1' } });
    const code = await running.ended;
    return { code, said: JSON.parse(running.output().trim().split('\n').at(-1) ?? '{}') };
  };

  const first = await cardea.start();
  let rest: RestDriver = cardea.rest.as(await cardea.admin());
  const load = mixedWrites(join(cardea.folder, 'acked'), () => rest);
  await written(load, WRITES);
  const sure = load.acked.read().acked;
  const out = join(cardea.folder, 'backup');
  expect(await command('backup', '--out', out)).toMatchObject({ code: 0, said: { ok: true } });
  const sentByThen = allOf(load.acked.read());
  await written(load, WRITES + sentByThen.length);
  await load.stop();
  expect(await first.end('SIGTERM')).toBe(0);

  env.DATABASE_URL = await empty.make();
  const restored = await command('restore', '--in', out);
  expect(restored).toMatchObject({ code: 0, said: { ok: true, parked_streams: 0 } });
  const again = await cardea.start();
  rest = cardea.rest.as(await cardea.admin());
  const all = allOf(load.acked.read());
  await expectClean(rest, { acked: { read: () => mayBeThere(sure, all) } });
  await expectNone(rest, all.slice(sentByThen.length));

  const next = mixedWrites(join(cardea.folder, 'again'), () => rest, 'again-');
  await written(next, NEW_WRITES);
  await next.stop();
  await expectClean(rest, next);
  const told = await untilTrue(
    async () => {
      const found = (await readTopic(client, topicOf('authz'))).map(
        ({ event }) => event as IntegrationEvent,
      );
      return tuplesMissing(next, found) === 0 ? found : undefined;
    },
    { what: 'every new tuple is on the topic' },
  );
  expectInOrder(told);
  expect(new Set(told.map(({ logEpoch }) => logEpoch))).toEqual(new Set([restored.said.epoch]));
  expect(await again.end('SIGTERM')).toBe(0);
});

const written = (load: Load, count: number): Promise<unknown> =>
  untilTrue(async () => load.acked.read().acked.length >= count, {
    deadlineMs: WRITES_MS_MAX,
    what: `${count} writes are acknowledged`,
  });

const allOf = ({ acked, refused, unknown }: Acked<Write>): readonly Write[] =>
  [...acked, ...refused, ...unknown].toSorted((a, b) => numberOf(a) - numberOf(b));
const numberOf = ({ name }: Write): number => Number(name.split('-').at(-1));

/** Writes after the backup have a row in the audit log, too, but only if they have their effect. */
function mayBeThere(sure: readonly Write[], sent: readonly Write[]): Acked<Write> {
  const names = new Set(sure.map(({ name }) => name));
  return { acked: sure, refused: [], unknown: sent.filter(({ name }) => !names.has(name)) };
}

/** Expects that nothing is left of what was written after the backup. */
async function expectNone(rest: RestDriver, lost: readonly Write[]): Promise<void> {
  expect(lost.length).toBeGreaterThan(0);
  const names = new Set(lost.map(({ name }) => name));
  const { body } = await rest.get('/api/v1/fga/tuples', { query: { limit: 1000 } });
  const left = body.tuples.filter(({ object_id }: { object_id: string }) => names.has(object_id));
  expect(left).toEqual([]);
}
