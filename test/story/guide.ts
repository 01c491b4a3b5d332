/**
 * Runs a guide of `docs/guides` as its reader would: its files are written, its commands run in one bash, its pages are
 * opened in a browser, and its printed results are compared.
 */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { programOf, untilTrue } from '@cardea/testing';
import { PYTHON } from './python.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DONE = '@@block-is-done@@';
const BLOCK_MS_MAX = 60_000;

/** One part of a guide that does something. */
export type Step =
  | { readonly kind: 'commands'; readonly text: string; readonly prints: string | undefined }
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'page'; readonly url: string; readonly shows: string };

/** Values that the reader takes from their own instance. */
export type GuideContext = {
  readonly values: { readonly [name: string]: string };
  /** The settings that the operator's commands need to find the instance. */
  readonly deployment: { readonly [name: string]: string };
  /** Opens a page, signs in where it asks for that, and waits for a page whose text fits. */
  readonly openPage: (url: string, fits: (text: string) => boolean) => Promise<unknown>;
  /**
   * Awaited before each block, until the services have received what the earlier blocks did. A reader takes seconds to
   * continue, which are usually enough. On a busy machine they are not.
   */
  readonly settled: () => Promise<void>;
};

const FENCE = /^```(?<info>[^\n`]*)\n(?<text>[\s\S]*?)^```$/gm;
const PAGE = /^Open <(?<url>[^>]+)>/m;

/** The steps in their order. A block that nobody would run is a fault of the guide. */
export function stepsOf(guide: string): readonly Step[] {
  const steps: Step[] = [];
  let end = 0;
  for (const match of guide.matchAll(FENCE)) {
    const { info = '', text = '' } = match.groups ?? {};
    const prose = guide.slice(end, match.index);
    end = match.index + match[0].length;
    const [language, name] = info.split(' ');
    const last = steps.at(-1);
    const url = PAGE.exec(prose)?.groups?.['url'];
    if (name !== undefined) steps.push({ kind: 'file', name, text });
    else if (language === 'sh') steps.push({ kind: 'commands', text, prints: undefined });
    else if (language !== 'text') throw new Error(`Nothing runs this block: ${match[0]}`);
    else if (url !== undefined) steps.push({ kind: 'page', url, shows: text });
    else if (last?.kind === 'commands' && last.prints === undefined) {
      steps.splice(-1, 1, { ...last, prints: text });
    } else throw new Error(`Nothing prints this: ${match[0]}`);
  }
  return steps;
}

/** Runs the steps in a separate folder. Throws at the first step that does not do what the guide says. */
export async function runGuide(
  steps: readonly Step[],
  { values, openPage, deployment, settled }: GuideContext,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-guide-'));
  const shell = startShell(folder, deployment);
  try {
    for (const step of steps) {
      await settled();
      if (step.kind === 'file') writeFileSync(join(folder, step.name), step.text);
      if (step.kind === 'page') await openPage(step.url, (text) => hasLines(text, step.shows));
      if (step.kind === 'commands') {
        expectPrinted(await shell.run(withValues(step.text, values)), step.prints ?? '');
      }
    }
  } finally {
    shell.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** `export NAME=…` is where readers insert what their own instance printed. */
function withValues(commands: string, values: GuideContext['values']): string {
  return commands.replaceAll(/^export (\w+)=(?:…|'…')/gm, (_line, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`No instance prints ${name}.`);
    return `export ${name}='${value}'`;
  });
}

function expectPrinted(printed: string, shown: string): void {
  if (hasLines(printed, shown)) return;
  throw new Error(`The guide shows\n${shown}\nand what came is\n${printed}`);
}

/** Whether each line that the guide shows was printed, in that order. `…` stands for anything within a line. */
function hasLines(printed: string, shown: string): boolean {
  const lines = shown.trim().split('\n');
  const patterns = lines.map((line) =>
    line
      .trim()
      .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('…', '.*'),
  );
  const pattern = new RegExp(patterns.map((each) => `^\\s*${each}\\s*$`).join('[\\s\\S]*'), 'm');
  return pattern.test(printed);
}

/** One bash for all commands of a guide, so that variables, functions and servers stay. */
function startShell(folder: string, deployment: GuideContext['deployment']) {
  const { NODE_COMPILE_CACHE } = process.env;
  const tools = join(folder, '.tools');
  mkdirSync(tools);
  writeFileSync(join(tools, 'npm'), NPM, { mode: 0o755 });
  const ownPython = PYTHON.includes('/') ? [dirname(PYTHON)] : [];
  const child = spawn('bash', ['-s'], {
    cwd: folder,
    // The shell has a separate process group, so that the servers which a guide starts end with it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: [tools, dirname(process.execPath), ...ownPython, process.env['PATH']].join(delimiter),
      HOME: folder,
      LIBRARIES: librariesIn(folder),
      COMMANDS: programOf(join(ROOT, 'services/standalone/src/cardea.ts')),
      ...deployment,
      ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    },
  });
  let output = '';
  let ended = false;
  const collect = (chunk: string): void => {
    output += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  child.stdin.on('error', () => undefined);
  child.once('exit', () => {
    ended = true;
  });
  child.stdin.write('set -euo pipefail\n');
  return {
    run: async (commands: string): Promise<string> => {
      const from = output.length;
      child.stdin.write(`{\n${commands}\n} </dev/null\necho; echo ${DONE}\n`);
      const isDone = (): boolean => output.slice(from).includes(`${DONE}\n`);
      await untilTrue(() => isDone() || ended, { deadlineMs: BLOCK_MS_MAX, what: commands }).catch(
        (cause: unknown) => {
          throw new Error(`Not done in time:\n${commands}\n${output}`, { cause });
        },
      );
      if (!isDone()) {
        const printed = output.slice(from);
        // The summary of a run shows the first line only.
        throw new Error(`It failed: ${lastLinesOf(printed)}\n${commands}\n${printed}`);
      }
      return output.slice(from);
    },
    stop: () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Everything in the group has ended.
      }
    },
  };
}

const LAST_LINES = 5;
const lastLinesOf = (printed: string): string =>
  printed.trim().split('\n').slice(-LAST_LINES).join(' | ');

/**
 * Installs what the workspace has pinned instead of what a registry has today, and runs the operator's commands without
 * checking the installation.
 */
const NPM = `#!/usr/bin/env bash
set -euo pipefail
case "$*" in
  start) exit 0 ;; # The instance of the test runs.
  "install "*) shift ;;
  "--prefix "*" run --silent cardea -- "*) shift 6; exec node "$COMMANDS" "$@" ;;
  *) echo "no guide may run npm $*" >&2; exit 1 ;;
esac
for name; do
  [ -e "$LIBRARIES/$name" ] || { echo "$name is no library of the workspace" >&2; exit 1; }
  mkdir -p "$(dirname "node_modules/$name")"
  ln -sfn "$(readlink -f "$LIBRARIES/$name")" "node_modules/$name"
done
`;

/** A folder with a link to each library that a package of the workspace depends on. */
function librariesIn(folder: string): string {
  const libraries = join(folder, '.libraries');
  mkdirSync(libraries);
  const members = ['packages', 'services', 'scripts'].flatMap((kind) =>
    readdirSync(join(ROOT, kind)).map((name) => join(ROOT, kind, name)),
  );
  for (const member of [ROOT, ...members].filter((each) =>
    existsSync(join(each, 'package.json')),
  )) {
    const manifest = JSON.parse(readFileSync(join(member, 'package.json'), 'utf8'));
    for (const library of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) {
      const link = join(libraries, library);
      const target = join(member, 'node_modules', library);
      if (existsSync(link) || !existsSync(target)) continue;
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(target, link);
    }
  }
  return libraries;
}
