/**
 * The gateway's committed files compared with the code that generates them, and checked by nginx itself.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { catalogue } from '@cardea/http';
import type { ListedEndpoints } from '@cardea/service';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  documentsOf,
  GATEWAY_FOLDER,
  product,
  TEMPLATE_FILE,
  templateOf,
} from '../../scripts/gateway/files.ts';
import { renderGateway } from '../../scripts/gateway/render.ts';
import { BODY_LIMIT_BYTES, gatewayRoutes } from '../../scripts/gateway/routes.ts';
import { staticPaths } from '../../scripts/gateway/static-files.ts';
import { matcherOf } from '../../scripts/gateway/template.ts';
import { needNginx } from '../need-nginx.ts';

const template = readFileSync(new URL(TEMPLATE_FILE, GATEWAY_FOLDER), 'utf8');

let described: ListedEndpoints;
let folder: string;
beforeAll(async () => {
  described = await product();
  folder = mkdtempSync(join(tmpdir(), 'cardea-gateway-files-'));
  chmodSync(folder, 0o711);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each location of the configuration with its directives. */
const places = [...template.matchAll(/^ {8}location (.+) \{\n((?: {12}.*\n|\n)*?) {8}\}/gm)].map(
  ([, matcher = '', inside = '']) => ({ matcher, inside }),
);
const routed = places.flatMap(({ matcher, inside }) => {
  const service = /proxy_pass http:\/\/(\w+);/.exec(inside)?.[1];
  const limit = /client_max_body_size (\d+);/.exec(inside)?.[1];
  return service === undefined ? [] : [{ matcher, service, limit: Number(limit ?? 0) }];
});

describe('the committed template of the gateway', () => {
  it('O12 equals the one that is generated now: `node scripts/gateway.ts --write`', () => {
    expect(templateOf(described) === template).toBe(true);
  });

  it('O12 is the only file of the gateway that is generated and kept', () => {
    const kept = execFileSync('git', ['ls-files', 'deploy/gateway', 'docs'], { encoding: 'utf8' });
    const made = [...documentsOf(described).keys(), 'asyncapi.yaml', 'headers.v1.json'];
    expect(made.filter((name) => kept.includes(`/${name}\n`))).toEqual([]);
  });

  it('S21 route the paths of the catalogue, each to its own service, and no other', () => {
    const expected = described.services.flatMap(({ service, endpoints }) =>
      catalogue(endpoints).map(({ contract }) => `${matcherOf(contract.path)} ${service}`),
    );
    const health = catalogue(described.common).map(
      ({ contract }) => `${matcherOf(contract.path)} identity`,
    );
    const found = routed.map(({ matcher, service }) => `${matcher} ${service}`);
    expect(found.toSorted()).toEqual([...new Set([...expected, ...health])].sort());
  });

  it('S21 route the paths that the document names, and those of pages', () => {
    const { paths } = JSON.parse(documentsOf(described).get('openapi.json') ?? '') as {
      paths: object;
    };
    const pages = described.services.flatMap(({ endpoints }) =>
      endpoints
        .filter(({ contract }) => contract.audience === 'page')
        .map(({ contract }) => contract.path),
    );
    const known = new Set([...Object.keys(paths), ...pages].map(matcherOf));
    expect(routed.map(({ matcher }) => matcher).toSorted()).toEqual([...known].sort());
  });

  it('S25 have no place for what is not public', () => {
    const shown = places.map(({ matcher }) => matcher).join('\n');
    expect(shown).not.toMatch(/internal|\/dev\b|metrics|livez|readyz|startupz|loglevel/);
  });

  it('match whole paths, and answer 404 to all others', () => {
    const own = places.filter(({ inside }) => !inside.includes('proxy_pass'));
    expect(own.map(({ matcher }) => matcher).toSorted()).toEqual(
      [
        '/',
        '@given-up',
        '@given-up-in-capitals',
        '= /gateway-error',
        '= /gateway-error-in-capitals',
        '= /gateway-malformed',
        ...staticPaths.map((path) => `= ${path}`),
      ].sort(),
    );
    const loose = routed.filter(({ matcher }) => !/^(= \/\S+|~ \^\/\S+\$)$/.test(matcher));
    expect(loose).toEqual([]);
  });

  it('let a body through where its contract takes more than all do', () => {
    const larger = gatewayRoutes(described).filter(
      (each) => each.bodyLimitBytes > BODY_LIMIT_BYTES,
    );
    expect(
      routed.filter(({ limit }) => limit > 0).map(({ matcher, limit }) => [matcher, limit]),
    ).toEqual(larger.map(({ path, bodyLimitBytes }) => [matcherOf(path), bodyLimitBytes]));
    expect(larger.length).toBeGreaterThan(0);
  });
});

describe('routes of a gateway', () => {
  const one = (path: string, service = 'identity') =>
    ({
      service,
      endpoints: [
        {
          contract: {
            name: `${service} ${path}`,
            path,
            method: 'get',
            who: 'anyone',
            refusals: {},
          },
        },
      ],
    }) as unknown as ListedEndpoints['services'][number];

  it.each(['/internal/approvals', '/dev/mailbox', '/metrics', '/readyz'])(
    'S25 are refused for %s, whatever its contract says',
    (path) => {
      expect(() => gatewayRoutes({ common: [], services: [one(path)] })).toThrow(
        'not for the gateway',
      );
    },
  );

  it('belong to one service', () => {
    const services = [one('/api/v1/x'), one('/api/v1/x', 'vault')];
    expect(() => gatewayRoutes({ common: [], services })).toThrow('two services');
  });

  it('match a parameter, and a point as a point', () => {
    expect(matcherOf('/api/v1/audit/{id}/events.csv')).toBe(
      String.raw`~ ^/api/v1/audit/[^/]+/events\.csv$`,
    );
  });
});

describe('nginx', () => {
  const command = needNginx();
  const judged = (config: string): string => {
    const path = join(folder, 'nginx.conf');
    writeFileSync(path, config);
    const args = ['-t', '-q', '-p', folder, '-c', path, '-e', 'stderr'];
    return execFileSync(command as string, args, { encoding: 'utf8', stdio: 'pipe' });
  };

  it('takes the template as it is filled in here', () => {
    const replicas = ['127.0.0.1:1', '127.0.0.1:2'];
    const config = renderGateway({
      upstreams: {
        identity: replicas,
        authz: replicas,
        vault: replicas,
        approval: replicas,
        webhooks: replicas,
        audit: [],
      },
      port: 18_080,
      hosts: ['127.0.0.1', '::1'],
      trustedProxies: ['10.0.0.0/8', 'fd00::/8'],
      folder,
      staticFolder: folder,
      https: true,
    });
    expect(judged(config)).toBe('');
  });

  it('takes it as the image fills it in, but for the names that this version looks up once', () => {
    const run = join(folder, 'run');
    const script = fileURLToPath(new URL('entrypoint.sh', GATEWAY_FOLDER));
    execFileSync('sh', [script, 'true'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        GATEWAY_FOLDER: run,
        GATEWAY_LOG: '/dev/null',
        GATEWAY_TRUSTED_PROXIES: '10.0.0.0/8, 192.168.0.0/16',
        PUBLIC_URL: 'https://api.example.com',
        UPSTREAM_SUFFIX: '.cardea.svc.cluster.local',
        VAULT_UPSTREAM: 'vault.example.com:9000',
        AUDIT_UPSTREAM: '[fd00::20]:9000',
        RESOLVER_ADDRESS: 'fd00::10',
        RESOLVER_FAMILY: 'both',
      },
    });
    const config = readFileSync(join(run, 'nginx.conf'), 'utf8');
    for (const line of [
      'server webhook-dispatcher.cardea.svc.cluster.local:8080 resolve max_fails=0;',
      'server vault.example.com:9000 resolve max_fails=0;',
      'server [fd00::20]:9000 resolve max_fails=0;',
      'resolver [fd00::10] valid=2s; resolver_timeout 2s;',
      'set_real_ip_from 10.0.0.0/8; set_real_ip_from 192.168.0.0/16;',
      'add_header Strict-Transport-Security "max-age=31536000" always;',
      'proxy_read_timeout 45s;',
    ]) {
      expect(config).toContain(line);
    }
    expect(config).not.toContain('${');
    const old = config.replaceAll(/server \S+ resolve /g, 'server 127.0.0.1:1 ');
    expect(judged(old)).toBe('');
  });
});
