/** Runs the COPY and RUN of an image's stages in folders, without a container engine. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildContext, filesOf } from './build-context.ts';
import { type Step, stagesOf } from './dockerfile-parts.ts';

const RUN_MS_MAX = 240_000;

/** Creates the folder that a service's image has as `/app`. */
export function playImage(folder: string, service: string): void {
  const context = buildContext();
  // The first two stages share it, so that a COPY from one to the next does nothing.
  const built = mkdtempSync(join(tmpdir(), 'cardea-build-'));
  try {
    const stages = stagesOf(readFileSync('deploy/Dockerfile', 'utf8'));
    for (const step of stages.slice(0, 2).flatMap(({ steps }) => steps)) {
      if (step.keyword === 'COPY' && step.from === undefined) copy(step, built, context);
      if (step.keyword === 'RUN') run(step, built);
    }
    for (const { from, words } of stages.at(-1)?.steps ?? []) {
      if (from === undefined) continue;
      const part = (words[0] ?? '').replace('/app/', '').replace(`$\{SERVICE}`, service);
      cpSync(join(built, part), folder, { recursive: true, verbatimSymlinks: true });
    }
  } finally {
    rmSync(built, { recursive: true, force: true });
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

function run({ text }: Step, folder: string): void {
  const bin = join(process.cwd(), 'node_modules/.bin');
  execFileSync('sh', ['-c', text], {
    cwd: folder,
    env: { ...process.env, PATH: `${bin}:${process.env['PATH']}`, CI: 'true' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS_MAX,
  });
}
