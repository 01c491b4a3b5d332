/**
 * Tests receivers whose names are never resolved, in a network namespace with a separate name server and search list.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const WORKER = join(import.meta.dirname, 'hanging-names.worker.ts');
const MAIN = resolve(import.meta.dirname, '../../services/standalone/src/main.ts');
const TEST_MS_MAX = 5 * 60_000;
const LOOKUP_SECONDS = 30;
/** Concurrent lookups of the system in one process. Each occupies a thread until it ends. */
const LOOKUPS_MAX = 2;
/** As many as the product has threads. None of the sign-ins may wait for a lookup. */
const SIGN_INS_MIN = 8;

const SETUP = `set -e
mount --bind "$1/hosts" /etc/hosts
mount --bind "$1/resolv.conf" /etc/resolv.conf
ip link set lo up
shift
exec "$@"`;
/** Without a user namespace, because PostgreSQL refuses to run as root and such a namespace has no other user. */
const IN_NAMESPACE = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--'];

const reason = await run('unshare', [...IN_NAMESPACE, 'ip', 'link', 'set', 'lo', 'up']).then(
  () => undefined,
  (error: Error) => error.message.split('\n', 1)[0],
);

type Outcome = {
  readonly calm: readonly number[];
  readonly noisy: readonly number[];
  readonly hanging: readonly string[];
};

async function outcome(): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-names-'));
  try {
    writeFileSync(join(folder, 'hosts'), '127.0.0.1 localhost\n');
    const search = 'search ns.svc.cluster.local svc.cluster.local';
    const options = `options timeout:${LOOKUP_SECONDS} attempts:1`;
    writeFileSync(join(folder, 'resolv.conf'), `nameserver 127.0.0.1\n${search}\n${options}\n`);
    const product = [process.execPath, WORKER, MAIN, join(folder, 'data'), String(LOOKUP_SECONDS)];
    const script = ['sh', '-c', SETUP, 'sh', folder, ...product];
    const { stdout } = await run('unshare', [...IN_NAMESPACE, ...script]);
    return JSON.parse(stdout) as Outcome;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const p99 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;

describe.skipIf(reason !== undefined)(
  `webhooks 31 names that never answer${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    it(
      'webhooks 31 take none of the threads that sign-ins need',
      async () => {
        const { calm, noisy, hanging } = await outcome();
        const ratio = (p99(noisy) / p99(calm)).toFixed(2);
        console.info(`sign-in p99 beside names that never answer: x ${ratio}`, noisy.length);
        // Both kinds of names were looked up: by our own resolver, and by the system's.
        expect(hanging.some((name) => name.startsWith('mute-'))).toBe(true);
        const ofSystem = new Set(
          hanging
            .filter((name) => name.endsWith('.cluster.local'))
            .map((name) => name.split('.')[0]),
        );
        expect(ofSystem.size).toBeGreaterThan(0);
        expect(ofSystem.size).toBeLessThanOrEqual(LOOKUPS_MAX);
        expect(noisy.length).toBeGreaterThanOrEqual(SIGN_INS_MIN);
      },
      TEST_MS_MAX,
    );
  },
);
