/** Third-party images that the compose file and the Dockerfile name, by the variables that replace them. */
import { readFileSync } from 'node:fs';

const DEFAULT = /\$\{(\w+_IMAGE):-([^}]+)\}/g;
const ARGUMENT = /^ARG (\w+_IMAGE)=(\S+)$/gm;

export function defaultImages(): { readonly [variable: string]: string } {
  const compose = readFileSync('docker-compose.yml', 'utf8');
  const dockerfile = readFileSync('deploy/Dockerfile', 'utf8');
  return Object.fromEntries(
    [...dockerfile.matchAll(ARGUMENT), ...compose.matchAll(DEFAULT)].map(([, name, image]) => [
      name,
      image,
    ]),
  );
}
