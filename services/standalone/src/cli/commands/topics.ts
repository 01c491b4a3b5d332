/** Checks and creates the topics of Kafka. Only this command creates them; the first write never does. */
import { checkTopics, createTopics } from '@cardea/event-bus';
import { type Command, done } from '../command.ts';
import { kafkaOf } from '../kafka.ts';

const NO_KAFKA = 'KAFKA_BROKERS is unset: the topics are tables, and made by the migrations.';

export const topicsCreate: Command = {
  name: 'topics create',
  summary: 'Creates the missing topics, and refuses one with another number of partitions.',
  run: async ({ open }) => {
    const deployment = await open();
    const client = kafkaOf(deployment);
    if (client === undefined) return done([NO_KAFKA], { created: [], existing: [] });
    const { KAFKA_REPLICATION: replication } = deployment.settings;
    const { created, existing } = await createTopics(client, { replication });
    const lines = created.map((topic) => `created: ${topic}`);
    return done(lines.length === 0 ? ['No topic was missing.'] : lines, { created, existing });
  },
};

export const topicsCheck: Command = {
  name: 'topics check',
  summary: 'Lists the topics that are missing or have another number of partitions.',
  run: async ({ open }) => {
    const client = kafkaOf(await open());
    if (client === undefined) return done([NO_KAFKA], { faults: [] });
    const faults = await checkTopics(client);
    const lines = faults.length === 0 ? ['The topics are as they must be.'] : faults;
    return { ok: faults.length === 0, lines, json: { faults } };
  },
};
