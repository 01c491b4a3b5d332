/** A connection to the brokers that the settings name, for commands about topics. */
import { type KafkaClient, kafkaClient } from '@cardea/event-bus';
import type { Deployment } from './deployment.ts';

/** Returns undefined if the topics are tables. */
export function kafkaOf({ settings, log }: Deployment): KafkaClient | undefined {
  const { KAFKA_BROKERS: brokers, KAFKA_TLS: tls } = settings;
  if (brokers === undefined) return undefined;
  const { KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = settings;
  return kafkaClient({ brokers, tls, username, password, log });
}
