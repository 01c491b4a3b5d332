/** Lets other containers reach the fake, which listens on loopback, and answers the health check for it. */
import { connect, createServer } from 'node:net';
import './fake-event-store-process.ts';

const FAKE_PORT = 2114;
const PORT = 2113;

createServer((client) => {
  client.on('error', () => client.destroy());
  client.once('data', (first) => {
    if (first.toString('latin1').startsWith('GET ')) {
      client.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
      return;
    }
    const server = connect(FAKE_PORT, '127.0.0.1');
    server.on('error', () => client.destroy());
    server.on('close', () => client.destroy());
    client.on('close', () => server.destroy());
    server.write(first);
    client.pipe(server);
    server.pipe(client);
  });
}).listen(PORT, '0.0.0.0');
