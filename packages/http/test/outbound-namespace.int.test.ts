/** Receivers by name, in a network namespace with its own hosts file, search list and name server. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const WORKER = join(import.meta.dirname, 'namespace.worker.ts');
const TEST_MS_MAX = 120_000;

const HOSTS = `127.0.0.1 localhost
10.20.0.9 hosts-private.example.com
127.0.0.1 hosts-loopback.example.com
169.254.169.254 hosts-metadata.example.com
fd00::9 hosts-unique-local.example.com
`;
const RESOLVER = 'nameserver 127.0.0.1\nsearch ns.svc.cluster.local svc.cluster.local\n';

const SETUP = `set -e
mount --bind "$1/hosts" /etc/hosts
mount --bind "$1/resolv.conf" /etc/resolv.conf
ip link set lo up
for address in 10.20.0.9/32 169.254.169.254/32 fd00::9/128 fe80::9/64; do
  ip address add "$address" dev lo nodad 2>/dev/null || ip address add "$address" dev lo
done
exec "$2" "$3"`;

const IN_NAMESPACE = ['--user', '--map-root-user', '--net', '--mount', '--'];

/** Undefined if the machine can create such namespaces; otherwise why it cannot. */
const reason = await run('unshare', [...IN_NAMESPACE, 'ip', 'link', 'set', 'lo', 'up']).then(
  () => undefined,
  (error: Error) => error.message.split('\n', 1)[0],
);

type Outcome = {
  readonly ranges: 'closed' | 'open';
  readonly name: string;
  readonly error: string;
  readonly connected: readonly string[];
};

async function outcomes(): Promise<readonly Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-namespace-'));
  try {
    writeFileSync(join(folder, 'hosts'), HOSTS);
    writeFileSync(join(folder, 'resolv.conf'), RESOLVER);
    const script = ['sh', '-c', SETUP, 'sh', folder, process.execPath, WORKER];
    const { stdout } = await run('unshare', [...IN_NAMESPACE, ...script]);
    return JSON.parse(stdout) as readonly Outcome[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The names that resolve to the ranges which the operator may allow. */
const OPENED: { readonly [name: string]: string } = {
  receiver: '10.20.0.9',
  'receiver.ns.svc.cluster.local': '10.20.0.9',
  'hosts-private.example.com': '10.20.0.9',
  'hosts-unique-local.example.com': 'fd00::9',
  'private.example.com': '10.20.0.9',
  '10.20.0.9': '10.20.0.9',
  '[fd00::9]': 'fd00::9',
};

describe.skipIf(reason !== undefined)(
  `webhooks 31 receivers in the operator's network${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    it(
      'webhooks 31 connects to private receivers in opened ranges, and never to loopback or metadata',
      async () => {
        const found = await outcomes();
        const closed = found.filter(({ ranges }) => ranges === 'closed');
        expect(closed.length).toBeGreaterThan(Object.keys(OPENED).length);
        expect(closed.filter(({ connected }) => connected.length > 0)).toEqual([]);
        expect(closed.filter(({ error }) => !/^(blocked_address|dns_error)$/.test(error))).toEqual(
          [],
        );
        const open = found.filter(({ ranges }) => ranges === 'open');
        const connectedTo = Object.fromEntries(
          open.flatMap(({ name, connected }) =>
            connected.length === 0 ? [] : [[name, connected.join()]],
          ),
        );
        expect(connectedTo).toEqual(OPENED);
      },
      TEST_MS_MAX,
    );
  },
);
