import { createServer, type Server } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { excerptOf, type Outbound, outbound } from '@cardea/http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let sink: Server;
let silent: TcpServer;
let client: Outbound;
/** A client with a short time-out for targets that do not respond. It suffices for a connection on a busy machine. */
let impatient: Outbound;
const IMPATIENT = { connectWaitMs: 2_000, wholeWaitMs: 4_000 };
const hits: string[] = [];
const port = (server: TcpServer | Server) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  sink = createServer((request, response) => {
    hits.push(request.url ?? '');
    switch (request.url) {
      case '/redirect':
        return response.writeHead(302, { Location: '/target' }).end();
      case '/endless': {
        response.writeHead(200);
        const timer = setInterval(() => response.write('x'), 50);
        return response.once('close', () => clearInterval(timer));
      }
      case '/large':
        return response.end('y'.repeat(1_000_000));
      case '/cut':
        response.writeHead(200, { 'Content-Length': '1000' }).write('half');
        return setImmediate(() => request.socket.destroy());
      case '/reset':
        return request.socket.resetAndDestroy();
      case '/garbage':
        return request.socket.end('this is no HTTP\r\n\r\n');
      case '/mute':
        return;
      default:
        return request.pipe(response);
    }
  });
  silent = createTcpServer(() => {});
  await new Promise<void>((done) => sink.listen(0, '127.0.0.1', done));
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  client = outbound({ env: 'development', allowedCidrs: [] });
  impatient = outbound({ env: 'development', allowedCidrs: [], ...IMPATIENT });
});
afterAll(async () => {
  await Promise.all([client.close(), impatient.close()]);
  sink.closeAllConnections();
  sink.close();
  silent.close();
});

/** Writes raw bytes for each request that arrives. */
async function rawReceiver(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    // The requests here are small enough for one packet.
    socket.on('data', () => answer(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { server, close };
}

const sent = (by: Outbound, path: string, at: number, scheme = 'http') =>
  by.send({
    url: `${scheme}://127.0.0.1:${at}${path}`,
    method: 'POST',
    headers: {},
    body: 'hello',
  });
const post = (path: string, at: number = port(sink), scheme?: string) =>
  sent(client, path, at, scheme);
const postInHaste = (path: string, at: number = port(sink), scheme?: string) =>
  sent(impatient, path, at, scheme);

describe('a request of ours', () => {
  it('comes back with status and body', async () => {
    const answer = await post('/echo');
    expect(answer).toMatchObject({ status: 200, body: Buffer.from('hello') });
    expect(answer.error).toBeUndefined();
  });
  it('webhooks 6 follows no redirect', async () => {
    expect(await post('/redirect')).toMatchObject({ status: 302 });
    expect(hits).not.toContain('/target');
  });
  it('webhooks 6 is decided by the status line, whatever its body does', async () => {
    // Its body never ends, so any result shows that the limit works.
    expect(await postInHaste('/endless')).toMatchObject({ status: 200 });
    expect((await post('/large')).body).toHaveLength(16 * 1024);
    expect(await post('/cut')).toMatchObject({ status: 200, body: Buffer.from('half') });
  });
  it('webhooks 6 names what kept an answer from coming', async () => {
    const closed = createTcpServer();
    await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done));
    const free = port(closed);
    await new Promise((done) => closed.close(done));
    const answers = await Promise.all([
      post('/', free),
      post('/reset'),
      post('/garbage'),
      postInHaste('/mute'),
      post('/', port(sink), 'https'),
      postInHaste('/', port(silent), 'https'),
      postInHaste('/', port(silent)),
    ]);
    expect(answers.map(({ status, error }) => [status, error])).toEqual([
      [0, 'connect_error'],
      [0, 'reset'],
      [0, 'protocol_error'],
      [0, 'timeout'],
      [0, 'tls_error'],
      [0, 'connect_timeout'],
      [0, 'timeout'],
    ]);
  });
  it.each([
    { name: '100 Continue', interim: ['100 Continue'] },
    {
      name: 'several',
      interim: ['100 Continue', '102 Processing', '103 Early Hints', '100 Continue'],
    },
  ])('accepts interim answers that it did not ask for: $name', async ({ interim }) => {
    const lines = interim.map((status) => `HTTP/1.1 ${status}\r\n\r\n`).join('');
    const receiver = await rawReceiver((socket) => {
      socket.write(lines);
      setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'), 20);
    });
    const ok = { status: 200, body: Buffer.from('ok') };
    expect(await post('/', port(receiver.server))).toMatchObject(ok);
    // The connection's responses still match its requests.
    expect(await post('/', port(receiver.server))).toMatchObject(ok);
    receiver.close();
  });
  it('does not wait longer for an answer because of interim ones', async () => {
    const receiver = await rawReceiver((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 50);
      socket.once('close', () => clearInterval(timer));
    });
    const answer = await postInHaste('/', port(receiver.server));
    expect(answer).toMatchObject({ status: 0, error: 'timeout' });
    receiver.close();
  });
  it('refuses a change of protocol that it did not ask for', async () => {
    const receiver = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    });
    expect(await post('/', port(receiver.server))).toMatchObject({ status: 0, error: 'reset' });
    receiver.close();
  });
  it('shows of a body only what can be printed', () => {
    expect(excerptOf(Buffer.from('a\u0000b\nc\u200b\u202ed é'))).toBe('abcd é');
    expect(excerptOf(Buffer.from('x'.repeat(400)))).toHaveLength(256);
  });
});
