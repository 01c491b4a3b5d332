/** Called by vitest before the first test of a project that uses Kafka. */
import { kafkaSetup } from '@cardea/testing';

export default kafkaSetup();
