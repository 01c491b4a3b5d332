/** Tests the gateway's nginx, which looks up its upstreams by name while it runs, when addresses change. */
import { createSocket, type Socket } from 'node:dgram';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { freePort, untilTrue } from '@cardea/testing';
import { afterAll, expect, it } from 'vitest';
import { docker } from '../../scripts/containers/docker.ts';
import { gone, type Upstream } from '../deploy/gateway-upstreams.ts';
import { needEngine } from './need-engine.ts';
import { traffic } from './traffic.ts';

const needed = needEngine();
const CHANGES = 4;
const ASKING = 20;
const LIVE = '127.0.0.2';
const SILENT = '127.0.0.3';

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

it('O9 loses no request that can be repeated while addresses come and go', async () => {
  const names = await nameServer();
  names.say([LIVE]);
  const service = await answering();
  const { port } = service.address() as AddressInfo;
  const silent: Upstream = await gone({ host: SILENT, port });
  ends.push(() => silent.close());
  const url = await gateway(`127.0.0.1:${names.port}`, port);
  const path = `${url}/api/v1/vault/services/s`;
  const ask = async (method: string): Promise<number> => {
    const response = await fetch(path, { method });
    await response.arrayBuffer();
    return response.status;
  };
  await untilTrue(async () => (await ask('GET').catch(() => 0)) === 200, { what: 'it answers' });

  const kinds = Array.from({ length: ASKING }, (_, at) => {
    const method = at % 2 === 0 ? 'GET' : 'DELETE';
    return [`${method} ${at}`, () => ask(method)] as const;
  });
  const going = traffic(Object.fromEntries(kinds));
  for (let change = 0; change < CHANGES; change += 1) {
    names.say(change % 2 === 0 ? [LIVE, SILENT] : [LIVE]);
    const enough = names.asked() + 2;
    await untilTrue(() => names.asked() >= enough, { what: 'the name is looked up' });
  }
  const { answered, lost } = await going.stop();
  expect(lost).toEqual([]);
  expect(answered).toBeGreaterThan(CHANGES * ASKING);
});

/** Runs the files of the gateway's image on its base image, in the network of this machine. */
async function gateway(resolver: string, servicePort: number): Promise<string> {
  const image = needed().bases.find(({ variable }) => variable === 'NGINX_IMAGE')?.image ?? '';
  const port = await freePort();
  const environment = {
    PORT: port,
    RESOLVER_ADDRESS: resolver,
    ...Object.fromEntries(
      ['IDENTITY', 'AUTHZ', 'VAULT', 'APPROVAL', 'WEBHOOKS', 'AUDIT'].map((service) => [
        `${service}_UPSTREAM`,
        `service.test:${servicePort}`,
      ]),
    ),
  };
  const id = await docker(
    ...['run', '--detach', '--rm', '--network', 'host', '--user', '10001:10001'],
    ...['--volume', `${resolve('deploy/gateway')}:/etc/gateway:ro`],
    ...Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...['--entrypoint', 'sh', image, '/etc/gateway/entrypoint.sh', 'nginx'],
  );
  ends.push(() => docker('rm', '--force', id));
  return `http://127.0.0.1:${port}`;
}

async function answering(): Promise<Server> {
  const server = createServer((_, response) => response.end('{}'));
  await new Promise<void>((listening) => server.listen(0, LIVE, listening));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

type NameServer = {
  readonly port: number;
  /** Sets the addresses of every name from now on. */
  say(addresses: readonly string[]): void;
  asked(): number;
};

async function nameServer(): Promise<NameServer> {
  const socket: Socket = createSocket('udp4');
  let addresses: readonly string[] = [];
  let asked = 0;
  socket.on('message', (question, from) => {
    asked += 1;
    socket.send(answerTo(question, addresses), from.port, from.address);
  });
  await new Promise<void>((bound) => socket.bind(0, '127.0.0.1', bound));
  ends.push(() => socket.close());
  return {
    port: socket.address().port,
    say: (of) => {
      addresses = of;
    },
    asked: () => asked,
  };
}

const HEAD_BYTES = 12;

/** Builds a response (RFC 1035): the question, and an A record of one second for each address. */
function answerTo(question: Buffer, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question.subarray(0, HEAD_BYTES));
  head.writeUInt16BE(0x81_80, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.fill(0, 8);
  // The answer's record: the name of the question, type A, class IN, one second, four bytes.
  const record = Buffer.from([0xc0, HEAD_BYTES, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4]);
  const records = addresses.map((address) =>
    Buffer.concat([record, Buffer.from(address.split('.').map(Number))]),
  );
  return Buffer.concat([head, question.subarray(HEAD_BYTES), ...records]);
}
