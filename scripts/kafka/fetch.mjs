/**
 * `node scripts/kafka/fetch.mjs`: downloads the jars of a Kafka broker into `.cache/kafka`, once. Plain
 * JavaScript, because it runs before anything is installed. An interrupted download leaves nothing behind.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const pom = join(here, 'pom.xml');
const version = /kafka_2\.13<\/artifactId>\s*<version>([\d.]+)</.exec(readFileSync(pom, 'utf8'))[1];
const folder = join(here, '..', '..', '.cache', 'kafka', version);
const lib = join(folder, 'lib');
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';
const CHARACTERS_MAX = 300;

if (!existsSync(lib)) fetchJars();

function fetchJars() {
  // A folder per process: concurrent downloads do not collide, and only a complete one is renamed.
  const draft = join(folder, `lib.${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const args = [
    '-B',
    '-ntp',
    '-f',
    pom,
    COPY,
    '-DincludeScope=runtime',
    `-DoutputDirectory=${draft}`,
  ];
  const { status, error, stdout } = spawnSync('mvn', args, { encoding: 'utf8' });
  if (status !== 0) {
    rmSync(draft, { recursive: true, force: true });
    const told = /^\[ERROR\] (.*)$/m.exec(stdout ?? '')?.[1]?.slice(0, CHARACTERS_MAX);
    const why = error?.code ?? told ?? `exit ${status}`;
    process.stderr.write(`Maven could not fetch the jars of Kafka ${version}: ${why}\n`);
    process.exit(1);
  }
  try {
    renameSync(draft, lib);
  } catch (failure) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(lib)) throw failure;
  }
}
