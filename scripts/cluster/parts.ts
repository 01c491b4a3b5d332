/** The programs that a cluster on one machine needs beside Node, and how to get those that are missing. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { nginxCommand } from '../gateway/start.ts';

type Part = { readonly program: string; readonly packages: string; readonly why: string };

const REDIS: Part = { program: 'redis-server', packages: 'redis-server', why: 'the cache' };
const NGINX: Part = { program: 'nginx', packages: 'nginx', why: 'the gateway' };
const KAFKA: readonly Part[] = [
  { program: 'java', packages: 'openjdk-17-jre-headless', why: 'Kafka' },
  { program: 'mvn', packages: 'maven', why: 'Kafka, which it fetches' },
];

/** Empty when all is there; else one sentence per part and the line that installs them. */
export function missingParts(needs: { readonly redis: boolean; readonly kafka: boolean }): string {
  const wanted = [...(needs.redis ? [REDIS] : []), ...(needs.kafka ? KAFKA : [])];
  const missing = wanted.filter(({ program }) => !isOnPath(program));
  if (nginxCommand() === undefined) missing.push(NGINX);
  if (missing.length === 0) return '';
  const lines = missing.map(({ program, why }) => `  ${program} is missing (${why})`);
  const packages = missing.map((part) => part.packages).join(' ');
  return ['A part is missing:', ...lines, `Install with: apt-get install ${packages}`].join('\n');
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
