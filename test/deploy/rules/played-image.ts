/** Runs the COPY and RUN of an image's stages before the last in a folder, without a container engine. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildContext, filesOf } from './build-context.ts';
import { type Step, stagesOf } from './dockerfile-parts.ts';

const RUN_MS_MAX = 240_000;

/** Stages share the folder, so a COPY from one to the next does nothing. */
export function playImage(folder: string, service: string): void {
  const context = buildContext();
  const stages = stagesOf(readFileSync('deploy/Dockerfile', 'utf8')).slice(0, -1);
  for (const step of stages.flatMap(({ steps }) => steps)) {
    if (step.keyword === 'COPY' && step.from === undefined) copy(step, folder, context);
    if (step.keyword === 'RUN') run(step, folder, service);
  }
}

function copy({ words }: Step, folder: string, context: readonly string[]): void {
  const target = words.at(-1) ?? '';
  for (const source of words.slice(0, -1)) {
    for (const file of filesOf(source, context)) {
      // A folder's contents are copied below the target, a file keeps its name there.
      const inside = source.endsWith('/')
        ? file.slice(source.length)
        : (file.split('/').at(-1) ?? '');
      const path = join(folder, target, inside);
      mkdirSync(dirname(path), { recursive: true });
      cpSync(file, path);
    }
  }
}

function run({ text }: Step, folder: string, service: string): void {
  const bin = join(process.cwd(), 'node_modules/.bin');
  execFileSync('sh', ['-c', text], {
    cwd: folder,
    env: { ...process.env, PATH: `${bin}:${process.env['PATH']}`, CI: 'true', SERVICE: service },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS_MAX,
  });
}
