/** The gateway as the manifests configure it, in front of a service that returns what it received. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../../scripts/gateway/start.ts';
import { needNginx } from '../need-nginx.ts';
import { askRaw } from '../raw-http.ts';
import { remembering, type Upstream } from './gateway-upstreams.ts';
import { podOf } from './rules/kubernetes-rules.ts';
import { readManifests } from './rules/manifests.ts';

/** Pods of this test have loopback addresses, pods of a cluster have addresses in 10.0.0.0/8. */
const asHere = (value: string): string => value.replaceAll('10.0.0.0/8', '127.0.0.0/8');

function environmentOfGateway(): { readonly [name: string]: string } {
  const { documents, settings } = readManifests('deploy/k8s/base');
  const gateway = documents.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'gateway',
  );
  const env = gateway === undefined ? [] : (podOf(gateway).containers[0]?.env ?? []);
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => {
      const key = (valueFrom as { configMapKeyRef?: { key: string } } | undefined)?.configMapKeyRef
        ?.key;
      return [name, asHere(value ?? settings[key ?? ''] ?? '')];
    }),
  );
}

/** The proxies that nginx trusts after the image's own script has read that environment. */
function believedProxies(folder: string, more: { readonly [name: string]: string } = {}) {
  execFileSync('sh', ['deploy/gateway/entrypoint.sh', 'true'], {
    env: {
      ...environmentOfGateway(),
      ...more,
      PATH: process.env['PATH'] ?? '',
      GATEWAY_FOLDER: folder,
      GATEWAY_LOG: '/dev/null',
    },
  });
  const config = readFileSync(join(folder, 'nginx.conf'), 'utf8');
  return [...config.matchAll(/set_real_ip_from ([^;]+);/g)].map(([, cidr = '']) => cidr);
}

describe('a pod that makes up who it speaks for', () => {
  const command = needNginx();
  const folder = mkdtempSync(join(tmpdir(), 'cardea-gateway-k8s-'));
  let service: Upstream | undefined;
  let gateway: Gateway | undefined;
  beforeAll(async () => {
    if (command === undefined) return;
    service = await remembering();
    const none = { authz: [], vault: [], approval: [], webhooks: [], audit: [] };
    gateway = await startGateway({
      upstreams: { identity: [service.address], ...none },
      workers: 1,
      trustedProxies: believedProxies(folder),
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is not believed by the gateway', async () => {
    const headers = ['X-Forwarded-For: 203.0.113.9', 'X-Forwarded-For: 203.0.113.9, 127.0.0.9'];
    for (const forged of headers) {
      await askRaw(gateway?.port ?? 0, '/api/v1/auth/me', { headers: [forged] });
      const seen = service?.seen.at(-1)?.headers ?? [];
      expect(seen.filter(([name]) => /forwarded/i.test(name))).toEqual([
        ['X-Forwarded-For', '127.0.0.1'],
      ]);
    }
  });

  it('is believed where an overlay names its address', () => {
    expect(believedProxies(folder, { GATEWAY_TRUSTED_PROXIES: '10.1.0.0/16' })).toEqual([
      '10.1.0.0/16',
    ]);
  });
});
