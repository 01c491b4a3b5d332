/**
 * The fake event store as a process of its own: `node event-store-stand-in-process.ts [--port N]`. Prints
 * one line of JSON, `{"url", "port"}`, once it listens, and forgets everything when it ends.
 */
import { parseArgs } from 'node:util';
import { startEventStoreStandIn } from './event-store-stand-in.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const standIn = await startEventStoreStandIn({ port: Number(values.port) });
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void standIn.stop().then(() => process.exit(0)));
}
process.stdout.write(`${JSON.stringify({ url: standIn.url, port: standIn.port })}\n`);
