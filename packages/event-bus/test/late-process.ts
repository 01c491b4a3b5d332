/**
 * A process that consumes a topic until it is killed. Arguments: database URL, topic, consumer, fail points, brokers
 * (if empty, the topics are tables). It prints `ready` before it starts.
 */
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { postgresSide } from './bus-fixture.ts';
import { kafkaSide } from './kafka-fixture.ts';
import { lateConsumerOf } from './late-consumer.ts';

const [url = '', topic = '', consumer = '', failPoints = '', brokers = ''] = process.argv.slice(2);
armFailPoints(parseFailPoints(failPoints) ?? []);
const side = brokers === '' ? postgresSide(url) : kafkaSide(url, brokers.split(','));
process.stdout.write('ready\n');
await side.subscriber.run(lateConsumerOf(consumer, topic, side.needs));
