/** The floor of every server in Node: reads a body, answers, does nothing else. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [answer = '{}'] = process.argv.slice(2);
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(answer),
    });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ pid: process.pid, origin: `http://127.0.0.1:${port}` });
});
process.on('disconnect', () => process.exit(0));
