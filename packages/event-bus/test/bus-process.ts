/**
 * A process that relays a log and consumes its topic until it is killed. Arguments: database URL, log, consumer, fail
 * points, brokers (if empty, the topics are tables). It prints `ready` before it starts the two, because events left
 * over from an earlier run may reach the fail point at once.
 */
import { type ServiceName, topicOf } from '@cardea/contracts';
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { countingConsumer, postgresSide } from './bus-fixture.ts';
import { kafkaSide } from './kafka-fixture.ts';
import { relaySide } from './relay-fixture.ts';

const [url = '', log = '', consumer = '', failPoints = '', brokers = ''] = process.argv.slice(2);
if (failPoints !== '') armFailPoints(parseFailPoints(failPoints) ?? []);
const bus = brokers === '' ? postgresSide(url) : kafkaSide(url, brokers.split(','));
const side = relaySide(url, log as ServiceName, bus);
process.stdout.write('ready\n');
side.start();
await side.subscriber.run(countingConsumer(consumer, topicOf(log as ServiceName)));
