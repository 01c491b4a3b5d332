/**
 * A process that appends until its input ends, and prints the name of each stream whose append was
 * confirmed. Arguments: URL of the database or of EventStoreDB, log, its name.
 */
import { eventStoreDbStores, type Log, postgresEventStores } from '@cardea/event-store';
import { appendOn } from './appending.ts';

const [url = '', log = '', name = ''] = process.argv.slice(2);
const stores = url.startsWith('esdb:')
  ? eventStoreDbStores({ url })
  : postgresEventStores({ connectionString: url, role: 'cardea_app' });
const writing = appendOn(stores.forLog(log as Log), name, (streamId) =>
  process.stdout.write(`${streamId}\n`),
);
process.stdin.resume();
process.stdin.on('end', async () => {
  await writing.stop();
  await stores.close();
});
