/** Kafka users for single services: each may write the topics of its service, and read those that it subscribes to. */

import { LISTENS_TO, type ServiceName, topicOf } from '@cardea/contracts';
import type { AclEntry } from 'kafkajs';
import { deadLetterTopicOf } from '../consuming/dead-letter.ts';
import { AUDIT_CHECKPOINTS_TOPIC } from '../topics.ts';
import { boundedEnd } from './bounded.ts';
import { type KafkaClient, kafkaDriver, RETRY_SHORTLY } from './kafka-client.ts';
import { type ScramCredential, setCredentials } from './scram-credentials.ts';

export type KafkaUser = ScramCredential & { readonly service: ServiceName };

/** Creates missing users with their rights, and sets the passwords of all. */
export async function makeKafkaUsers(
  client: KafkaClient,
  users: readonly KafkaUser[],
): Promise<void> {
  const kafka = client.connect({ retry: RETRY_SHORTLY });
  const admin = kafka.admin();
  try {
    await setCredentials(kafka, users);
    await admin.connect();
    await admin.createAcls({ acl: users.flatMap(rightsOf) });
  } finally {
    await boundedEnd(admin.disconnect());
  }
}

function rightsOf({ service, name }: KafkaUser): readonly AclEntry[] {
  const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } =
    kafkaDriver();
  const may = (
    resourceType: AclEntry['resourceType'],
    resourceName: string,
    operation: AclEntry['operation'],
  ): AclEntry => ({
    resourceType,
    resourceName,
    operation,
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: `User:${name}`,
    host: '*',
    permissionType: AclPermissionTypes.ALLOW,
  });
  const { TOPIC, GROUP } = AclResourceTypes;
  const { READ, WRITE, DESCRIBE } = AclOperationTypes;
  const written = [
    topicOf(service),
    deadLetterTopicOf(service),
    ...(service === 'audit' ? [AUDIT_CHECKPOINTS_TOPIC] : []),
  ];
  const read = new Set([...LISTENS_TO[service].map(topicOf), ...written]);
  return [
    ...written.map((topic) => may(TOPIC, topic, WRITE)),
    ...[...read].flatMap((topic) => [may(TOPIC, topic, READ), may(TOPIC, topic, DESCRIBE)]),
    may(GROUP, `cardea.${service}`, READ),
  ];
}
