/**
 * A process that appends until its input ends, and prints the name of each stream whose append was
 * answered. Arguments: database URL, log, its name.
 */
import { type Log, postgresEventStore } from '@cardea/event-store';
import { appendOn } from './appending.ts';

const [connectionString = '', log = '', name = ''] = process.argv.slice(2);
const store = postgresEventStore({ connectionString, role: 'cardea_app', log: log as Log });
const writing = appendOn(store, name, (streamId) => process.stdout.write(`${streamId}\n`));
process.stdin.resume();
process.stdin.on('end', async () => {
  await writing.stop();
  await store.close();
});
