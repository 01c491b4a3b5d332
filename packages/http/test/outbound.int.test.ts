import { createServer, type Server } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as TcpServer,
} from 'node:net';
import { excerptOf, type Outbound, outbound } from '@cardea/http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let sink: Server;
let silent: TcpServer;
let client: Outbound;
/** For targets that do not respond: enough for a connection on a busy machine, short enough to wait for. */
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
    // Its body never ends: a result at all shows the limit.
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
  it('shows of a body only what can be printed', () => {
    expect(excerptOf(Buffer.from('a\u0000b\nc\u200b\u202ed é'))).toBe('abcd é');
    expect(excerptOf(Buffer.from('x'.repeat(400)))).toHaveLength(256);
  });
});
