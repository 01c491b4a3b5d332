/**
 * The images on which ours are based, and the servers beside them. Real images are used if the engine has them or can
 * pull them. Any other image is replaced by a look-alike with its own name, which is built once from packages of
 * registries that are not image registries, and kept in `.cache/containers`.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { docker, ended, output } from './docker.ts';
import { CACHE } from './engine.ts';
import { DEBIAN, type LookAlike, lookAlikes } from './look-alikes.ts';
import { defaultImages } from './pinned-images.ts';

export type Base = {
  /** Its name in the compose file and in the build arguments, e.g. `POSTGRES_IMAGE`. */
  readonly variable: string;
  readonly image: string;
  readonly isLookAlike: boolean;
};

const FILES = fileURLToPath(new URL('bases/', import.meta.url));
const SAVED = join(CACHE, 'bases');
const LABEL = 'cardea.made-of';
const HASH_DIGITS = 16;

/** Builds what is missing. Without `mayMake`, returns undefined if something is missing. */
export async function bases(mayMake: boolean): Promise<readonly Base[] | undefined> {
  const found: Base[] = [];
  for (const [variable, image] of Object.entries(defaultImages())) {
    const lookAlike = lookAlikes[variable];
    if (await isReal(image, mayMake)) found.push({ variable, image, isLookAlike: false });
    else if (lookAlike !== undefined) {
      if (!(await has(lookAlike, mayMake))) return undefined;
      found.push({ variable, image: lookAlike.image, isLookAlike: true });
    }
  }
  return found;
}

async function isReal(image: string, mayPull: boolean): Promise<boolean> {
  if ((await ended('docker', ['image', 'inspect', image])).code === 0) return true;
  return mayPull && (await ended('docker', ['pull', '--quiet', image])).code === 0;
}

async function has(wanted: LookAlike, mayMake: boolean): Promise<boolean> {
  const hash = hashOf(wanted);
  const format = `{{index .Config.Labels "${LABEL}"}}`;
  const asked = await ended('docker', ['image', 'inspect', '--format', format, wanted.image]);
  if (asked.code === 0 && asked.stdout.trim() === hash) return true;
  const saved = join(SAVED, `${wanted.name}-${hash}.tar`);
  if (existsSync(saved)) {
    await docker('load', '--quiet', '--input', saved);
    return true;
  }
  if (!mayMake) return false;
  await make(wanted, hash);
  const draft = `${saved}.${process.pid}`;
  mkdirSync(SAVED, { recursive: true });
  await docker('save', '--output', draft, wanted.image);
  renameSync(draft, saved);
  return true;
}

/** The parts of a look-alike that this repository defines. */
function hashOf({ name, versions }: LookAlike): string {
  const hash = createHash('sha256').update(JSON.stringify(versions));
  const folder = join(FILES, name);
  const files = existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
    : [];
  for (const file of files.toSorted()) {
    const path = join(folder, file);
    if (/\.\w+$|file$|run$/.test(file)) hash.update(file).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, HASH_DIGITS);
}

async function make(wanted: LookAlike, hash: string): Promise<void> {
  console.log(`Making a look-alike, ${wanted.image} …`);
  const folder = join(CACHE, 'work', wanted.name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    if (wanted.name !== DEBIAN.name) {
      if (!(await has(DEBIAN, true))) throw new Error('no Debian');
      await output('cp', ['-r', `${join(FILES, wanted.name)}/.`, folder]);
    }
    await wanted.prepare(folder);
    const args = ['--label', `${LABEL}=${hash}`, ...(wanted.buildArgs?.() ?? [])];
    // This builder needs no plugin and uses the host's network.
    await output(
      'docker',
      ['build', '--quiet', '--network', 'host', ...args, '--tag', wanted.image, folder],
      { env: { DOCKER_BUILDKIT: '0' } },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
