/** A Kubernetes API server on this machine, built once from its Go modules. It validates manifests and runs nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort, untilTrue } from '@cardea/testing';
import { ended, output } from './docker.ts';
import { buildGoPrograms, type GoPrograms } from './go-programs.ts';

const KUBERNETES = '1.34.2';
const ETCD = '3.6.5';
const BIN = resolve('.cache/kubernetes', KUBERNETES);
const PROGRAMS = { apiServer: 'kube-apiserver', kubectl: 'kubectl' };
const ETCD_PROGRAM = join(BIN, 'server');
const TOKEN = 'of-the-test';
const START_MS_MAX = 120_000;

export const isBuilt = (): boolean =>
  [...Object.values(PROGRAMS).map((name) => join(BIN, name)), ETCD_PROGRAM].every(existsSync);

/** Takes about 15 minutes of one core, and 2 GB for modules. */
export async function buildApiServer(): Promise<void> {
  if (isBuilt()) return;
  console.log(`Building kube-apiserver ${KUBERNETES} and etcd ${ETCD} of their modules …`);
  mkdirSync(BIN, { recursive: true });
  await build(`go.etcd.io/etcd/server/v3@v${ETCD}`, { [ETCD_PROGRAM]: '.' });
  const programs = Object.values(PROGRAMS).map((name) => [join(BIN, name), `./cmd/${name}`]);
  await build(`k8s.io/kubernetes@v${KUBERNETES}`, Object.fromEntries(programs));
}

const build = (module: string, programs: GoPrograms['programs']): Promise<void> =>
  buildGoPrograms({ module, folder: BIN, programs, prepare: withoutNeighbours });

/** In Kubernetes' repository these modules are folders beside this one. Here they are separate modules. */
function withoutNeighbours(copy: string): void {
  const file = join(copy, 'go.mod');
  const text = readFileSync(file, 'utf8')
    .replaceAll(/^.*=> \.{1,2}\/.*$/gm, '')
    // There these modules have version 0.0.0. Here they have the version of the release.
    .replaceAll(/^(\tk8s\.io\/[\w-]+) v0\.0\.0(?=\s)/gm, `$1 v0${KUBERNETES.slice(1)}`);
  writeFileSync(file, text);
  for (const name of ['go.work', 'go.work.sum']) rmSync(join(copy, name), { force: true });
}

export type ApiServer = {
  /** Returns the output of kubectl. Throws with the output if kubectl fails. */
  kubectl(...args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
};

export async function startApiServer(): Promise<ApiServer> {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-kubernetes-'));
  const at = (name: string): string => join(folder, name);
  const [clients, peers, port] = [await freePort(), await freePort(), await freePort()];
  const url = (of: number): string => `http://127.0.0.1:${of}`;
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(at('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
  });
  writeFileSync(at('public.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
  writeFileSync(at('tokens.csv'), `${TOKEN},admin,admin,system:masters\n`, { mode: 0o600 });
  const started: ChildProcess[] = [];
  const start = (name: string, program: string, args: readonly string[]): void => {
    const log = openSync(at(`${name}.log`), 'a');
    started.push(spawn(program, args, { stdio: ['ignore', log, log] }));
  };
  start('etcd', ETCD_PROGRAM, [
    ...['--data-dir', at('etcd'), '--listen-client-urls', url(clients)],
    ...['--advertise-client-urls', url(clients), '--listen-peer-urls', url(peers)],
    ...['--initial-advertise-peer-urls', url(peers), '--initial-cluster', `default=${url(peers)}`],
  ]);
  start('api-server', join(BIN, PROGRAMS.apiServer), [
    ...[`--etcd-servers=${url(clients)}`, `--secure-port=${port}`, '--bind-address=127.0.0.1'],
    ...[`--cert-dir=${at('certificates')}`, `--token-auth-file=${at('tokens.csv')}`],
    ...['--authorization-mode=RBAC', '--service-cluster-ip-range=10.0.0.0/24'],
    ...['--service-account-issuer=https://issuer.example.com'],
    ...[`--service-account-key-file=${at('public.pem')}`],
    ...[`--service-account-signing-key-file=${at('key.pem')}`],
  ]);
  const common = ['--server', `https://127.0.0.1:${port}`, '--insecure-skip-tls-verify'];
  const words = [...common, '--token', TOKEN, '--cache-dir', at('cache')];
  const kubectl = (...args: readonly string[]): Promise<string> =>
    output(join(BIN, PROGRAMS.kubectl), [...words, ...args], { env: { KUBECONFIG: '/dev/null' } });
  const stop = async (): Promise<void> => {
    const ends = started.map(
      (child) =>
        new Promise((done) => (child.exitCode === null ? child.once('exit', done) : done(0))),
    );
    for (const child of started) child.kill('SIGKILL');
    await Promise.all(ends);
    rmSync(folder, { recursive: true, force: true });
  };
  const isReady = async (): Promise<boolean> =>
    (await ended(join(BIN, PROGRAMS.kubectl), [...words, 'get', '--raw', '/readyz'])).code === 0;
  try {
    await untilTrue(isReady, { deadlineMs: START_MS_MAX, what: 'the API server is ready' });
  } catch (error) {
    console.error(readFileSync(at('api-server.log'), 'utf8').slice(-2000));
    await stop();
    throw error;
  }
  return { kubectl, stop };
}
