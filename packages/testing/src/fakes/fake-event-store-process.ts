/**
 * The fake event store as a separate process: `node fake-event-store-process.ts [--port N]`. It prints one line of
 * JSON, `{"url", "port"}`, when it listens, and loses everything when it ends.
 */
import { parseArgs } from 'node:util';
import { startFakeEventStore } from './fake-event-store.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const standIn = await startFakeEventStore({ port: Number(values.port) });
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void standIn.stop().then(() => process.exit(0)));
}
process.stdout.write(`${JSON.stringify({ url: standIn.url, port: standIn.port })}\n`);
