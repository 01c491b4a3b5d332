/**
 * A process that relays a log and consumes its topic until it is killed. Arguments: database URL, log,
 * consumer, fail points, brokers (none: the topics are tables). It prints `ready` when both run.
 */
import { type ServiceName, topicOf } from '@cardea/contracts';
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { kafkaSide } from './kafka-rig.ts';
import { relaySide } from './relay-rig.ts';
import { countingConsumer, postgresSide } from './rig.ts';

const [url = '', log = '', consumer = '', failPoints = '', brokers = ''] = process.argv.slice(2);
if (failPoints !== '') armFailPoints(parseFailPoints(failPoints) ?? []);
const bus = brokers === '' ? postgresSide(url) : kafkaSide(url, brokers.split(','));
const side = relaySide(url, log as ServiceName, bus);
side.start();
await side.subscriber.run(countingConsumer(consumer, topicOf(log as ServiceName)));
process.stdout.write('ready\n');
