/** Tests the whole product with an IPv6 address as its only address and that of its gateway. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '@cardea/cluster';
import { freePort, needRedis, restDriver, temporaryInstance, testForm } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Gateway, nginxCommand, startGateway } from '../../scripts/gateway/start.ts';
import { player } from '../../scripts/tour/player.ts';
import { playStory } from '../../scripts/tour/story.ts';
import { company } from '../cluster-fixture.ts';
import { CHEAP_HASHES } from '../faults/instance.ts';
import { needNginx } from '../need-nginx.ts';

const quiet = (): void => undefined;
const TEST_MS_MAX = 5 * 60_000;

/** Undefined if this machine has the address; otherwise the reason why it has not. */
async function whyNot(): Promise<string | undefined> {
  const server = createServer();
  const listening = once(server, 'listening').then(
    () => undefined,
    (error: Error) => `no ::1: ${error.message}`,
  );
  server.listen(0, '::1');
  const reason = await listening;
  server.close();
  return reason;
}

const reason = await whyNot();
const services = ['identity', 'authz', 'vault', 'approval', 'webhooks', 'audit'] as const;

async function gatewayTo(port: number): Promise<Gateway | undefined> {
  if (nginxCommand() === undefined) return undefined;
  const upstreams = Object.fromEntries(services.map((name) => [name, [`[::1]:${port}`]]));
  return startGateway({ upstreams: upstreams as never, hosts: ['::1'] });
}

describe.skipIf(reason !== undefined)(
  `a machine with an address of IPv6 alone${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    it(
      'lets people sign in, read and use credentials there, and listens nowhere else',
      async () => {
        const port = await freePort();
        const instance = await temporaryInstance(quiet, {
          ...CHEAP_HASHES,
          HOST: '::1',
          PORT: String(port),
          PUBLIC_URL: `http://[::1]:${port}`,
        });
        try {
          expect(instance.base).toBe(`http://[::1]:${port}`);
          expect(instance.management).toContain('http://[::1]:');
          await playStory(player(instance.base, quiet), instance.base);
          await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow('fetch failed');
          const gateway = await gatewayTo(port);
          if (gateway === undefined) return;
          try {
            expect(gateway.url).toContain('http://[::1]:');
            const answer = await fetch(`${gateway.url}/.well-known/jwks.json`);
            expect([answer.status, Object.keys((await answer.json()) as object)]).toEqual([
              200,
              ['keys'],
            ]);
          } finally {
            await gateway.stop();
          }
        } finally {
          await instance.stop();
        }
      },
      TEST_MS_MAX,
    );
  },
);

// Only in the long form, because the instance above listens by the same code.
describe.runIf(testForm.long && reason === undefined)(
  `a cluster whose HOST is ::1${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    needRedis();
    needNginx();

    it(
      'serves its gateway and its processes there alone, under the address that it names itself by',
      async () => {
        const folder = mkdtempSync(join(tmpdir(), 'cardea-ipv6-'));
        const cluster = await startCluster({
          folder,
          temporary: true,
          replicas: 1,
          host: '::1',
          startGateway,
          postgresPassword: randomBytes(18).toString('base64url'),
          given: { kafkaBrokers: '' },
          env: {
            JWT_SECRET: randomBytes(32).toString('hex'),
            ENCRYPTION_KEY: randomBytes(32).toString('hex'),
            CARDEA_DATA: folder,
            ...CHEAP_HASHES,
          },
        });
        try {
          const { gateway, mailbox, services: processes } = cluster.addresses();
          const apis = Object.values(processes).flatMap((each) => each.map(({ api }) => api));
          for (const url of [gateway, mailbox, ...apis]) expect(url).toMatch(/^http:\/\/\[::1\]:/);
          const answer = await fetch(`${gateway}/.well-known/openid-configuration`);
          expect(await answer.json()).toMatchObject({ issuer: gateway });
          const admin = await company(restDriver({ baseUrl: gateway }));
          const agents = await restDriver({ baseUrl: gateway }).as(admin).get('/api/v1/agents');
          expect(agents.status).toBe(200);
          for (const url of [gateway, ...apis]) {
            await expect(fetch(url.replace('[::1]', '127.0.0.1'))).rejects.toThrow('fetch failed');
          }
        } finally {
          await cluster.stop();
          rmSync(folder, { recursive: true, force: true });
        }
      },
      TEST_MS_MAX,
    );
  },
);
