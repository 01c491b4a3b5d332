/** The floor of everything that serves HTTP: the Express that endpoints use, reading JSON and doing nothing. */
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

// Only packages/http may depend on Express, so its copy is used.
const require = createRequire(new URL('../../../../packages/http/package.json', import.meta.url));
const express = require('express');
const [answer = '{}'] = process.argv.slice(2);
const body: unknown = JSON.parse(answer);

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.use(express.json({ limit: '256kb' }));
app.post('/{*path}', (_request: unknown, response: { json(value: unknown): void }) => {
  response.json(body);
});
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ pid: process.pid, origin: `http://127.0.0.1:${port}` });
});
process.on('disconnect', () => process.exit(0));
