/**
 * `node scripts/kafka/fetch.mjs`: brings the jars of a real Kafka broker into `.cache/kafka`, once.
 * Plain JavaScript, for it runs before anything is installed. A broken fetch leaves nothing behind.
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
  // A folder of our own: two fetches at once do not meet, and only a whole one gets the name.
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
