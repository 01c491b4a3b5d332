/** The programs that a cluster on one machine needs beside Node, and how to install missing ones. */

import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { whyNoKafka } from '@cardea/testing';

type Program = { readonly program: string; readonly packages: string; readonly why: string };

const REDIS: Program = { program: 'redis-server', packages: 'redis-server', why: 'the cache' };
const NGINX: Program = { program: 'nginx', packages: 'nginx', why: 'the gateway' };
const JAVA: Program = { program: 'java 17', packages: 'openjdk-17-jre-headless', why: 'Kafka' };
const MAVEN: Program = { program: 'mvn', packages: 'maven', why: 'fetches Kafka, once' };
const FETCH = fileURLToPath(new URL('../../../scripts/kafka/fetch.mjs', import.meta.url));

export type RequiredPrograms = {
  readonly redis: boolean;
  readonly nginx: boolean;
  readonly kafka: boolean;
};

/** Returns an empty text if nothing is missing; otherwise one sentence per part and the command that installs them. */
export function missingPrograms(needs: RequiredPrograms): string {
  const missing = [
    ...(needs.redis && !isOnPath(REDIS.program) ? [REDIS] : []),
    ...(needs.nginx ? [NGINX] : []),
    ...(needs.kafka ? missingForKafka() : []),
  ];
  if (missing.length === 0) return '';
  const lines = missing.map(({ program, why }) => `  ${program} is missing (${why})`);
  const packages = missing.map((part) => part.packages).join(' ');
  return ['A part is missing:', ...lines, `Install with: apt-get install ${packages}`].join('\n');
}

function missingForKafka(): readonly Program[] {
  const why = whyNoKafka();
  if (why === undefined) return [];
  if (/Java/.test(why)) return [JAVA, ...(isOnPath(MAVEN.program) ? [] : [MAVEN])];
  return isOnPath(MAVEN.program) ? [] : [MAVEN];
}

/** Downloads missing jars; returns what went wrong. */
export function fetchKafka(say: (line: string) => void): string | undefined {
  if (whyNoKafka() === undefined) return undefined;
  say('Fetching Kafka (once) …');
  const { status, stderr } = spawnSync(process.execPath, [FETCH], { encoding: 'utf8' });
  return status === 0 ? undefined : stderr.trim();
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
