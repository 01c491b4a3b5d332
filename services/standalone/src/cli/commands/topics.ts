/** The topics of Kafka: made by this command alone, never by whoever writes first. */
import { checkTopics, createTopics, type KafkaClient, kafkaClient } from '@cardea/event-bus';
import { type Call, type Command, done } from '../command.ts';
import type { Deployment } from '../deployment.ts';

const NO_KAFKA = 'KAFKA_BROKERS is unset: the topics are tables, and made by the migrations.';

export const topicsCreate: Command = {
  name: 'topics create',
  summary: 'Makes the topics that are missing; one with another number of partitions is refused.',
  run: async (call) => {
    const { client, settings } = await kafkaOf(call);
    if (client === undefined) return done([NO_KAFKA], { created: [], existing: [] });
    const replication = settings.KAFKA_REPLICATION;
    const { created, existing } = await createTopics(client, { replication });
    const lines = created.map((topic) => `created: ${topic}`);
    return done(lines.length === 0 ? ['No topic was missing.'] : lines, { created, existing });
  },
};

export const topicsCheck: Command = {
  name: 'topics check',
  summary: 'Says which topics are missing or have another number of partitions.',
  run: async (call) => {
    const { client } = await kafkaOf(call);
    if (client === undefined) return done([NO_KAFKA], { faults: [] });
    const faults = await checkTopics(client);
    const lines = faults.length === 0 ? ['The topics are as they must be.'] : faults;
    return { ok: faults.length === 0, lines, json: { faults } };
  },
};

async function kafkaOf({
  open,
  log,
}: Call): Promise<Pick<Deployment, 'settings'> & { readonly client: KafkaClient | undefined }> {
  const { settings } = await open();
  const { KAFKA_BROKERS: brokers, KAFKA_TLS: tls } = settings;
  if (brokers === undefined) return { settings, client: undefined };
  const { KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = settings;
  return { settings, client: kafkaClient({ brokers, tls, username, password, log }) };
}
