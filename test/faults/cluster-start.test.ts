import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { processFixture } from '@cardea/testing';
import { describe, expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../../scripts/cluster.ts', import.meta.url));

const fixture = processFixture();

describe('R25 a cluster that cannot start', () => {
  it('says which parts are missing, and how to install them', async () => {
    const refused = await fixture.start({
      name: 'cluster-without-parts',
      script: MAIN,
      args: ['--temp'],
      env: { PATH: '/nowhere', NGINX_BINARY: '/nowhere/nginx' },
    });
    expect(await refused.ended).toBe(78);
    expect(refused.output()).toMatch(/redis-server is missing[\s\S]*nginx is missing[\s\S]*java/);
    expect(refused.output()).toMatch(/apt-get install .*redis-server/);
  });

  it('names the port that is taken', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    // Servers that run already, so that the start finds them all.
    const env = {
      REDIS_URL: 'redis://127.0.0.1:1',
      KAFKA_BROKERS: '127.0.0.1:1',
      NGINX_BINARY: 'true',
    };
    const args = ['--temp', '--port', String(port)];
    const refused = await fixture.start({ name: 'cluster-port', script: MAIN, args, env });
    expect(await refused.ended).toBe(78);
    expect(refused.output()).toContain(`port ${port} is taken (PORT or --port)`);
    holder.close();
  });

  it('refuses a flag that it does not know with what may be said instead', async () => {
    const refused = await fixture.start({
      name: 'cluster-flags',
      script: MAIN,
      args: ['--colour'],
    });
    expect(await refused.ended).toBe(2);
    expect(refused.output()).toContain('--replicas N');
  });
});
