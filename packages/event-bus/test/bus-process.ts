/**
 * A process that relays a log and consumes its topic until it is killed. Arguments: database URL, log,
 * consumer, fail points. It prints `ready` when both run.
 */
import { type ServiceName, topicOf } from '@cardea/contracts';
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { relaySide } from './relay-rig.ts';
import { countingConsumer } from './rig.ts';

const [url = '', log = '', consumer = '', failPoints = ''] = process.argv.slice(2);
if (failPoints !== '') armFailPoints(parseFailPoints(failPoints) ?? []);
const side = relaySide(url, log as ServiceName);
side.start();
await side.subscriber.run(countingConsumer(consumer, topicOf(log as ServiceName)));
process.stdout.write('ready\n');
