/** Builds other products' servers from their Go modules, once, into `.cache/against`. */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, rename, rm, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL('../../../../.cache/against/', import.meta.url));
/** The folder into which Go's own archives are unpacked. It is searched in addition to the PATH. */
const USUAL_GO_FOLDER = '/usr/local/go/bin';
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;

export type GoProgram = {
  readonly module: string;
  readonly version: string;
  /** The path of the main package, relative to the module. */
  readonly main: string;
};

/** Why a program cannot be built, and what would help. */
export class NotBuilt extends Error {
  override readonly name = 'NotBuilt';
}

/** Returns the path of the program, and builds it if it was not built before. */
export async function goProgram(program: GoProgram): Promise<string> {
  const name = program.main.split('/').at(-1);
  const path = join(FOLDER, `${name}-${program.version}`);
  if (await exists(path)) return path;
  const environment = {
    ...process.env,
    PATH: `${process.env['PATH'] ?? ''}${delimiter}${USUAL_GO_FOLDER}`,
    CGO_ENABLED: '0',
  };
  const go = (args: readonly string[], cwd: string) =>
    run('go', args, { cwd, env: environment, maxBuffer: OUTPUT_MAX_BYTES });
  await mkdir(FOLDER, { recursive: true });
  const version = await go(['version'], FOLDER).catch(() => undefined);
  if (version === undefined) {
    throw new NotBuilt(
      `${name} is built by Go 1.26 or later: unpack a release of Go to /usr/local/go, or put a ` +
        `binary of ${program.module} ${program.version} at ${path}, and start again`,
    );
  }
  console.log(`  building ${name} ${program.version}, which takes minutes`);
  const { stdout } = await go(
    ['mod', 'download', '-json', `${program.module}@${program.version}`],
    FOLDER,
  );
  // A copy, because a module with `replace` can only be built as the main module.
  const source = join(FOLDER, `${name}-source`);
  await rm(source, { recursive: true, force: true });
  await cp((JSON.parse(stdout) as { Dir: string }).Dir, source, { recursive: true });
  await run('chmod', ['-R', 'u+w', source]);
  await go(['build', '-o', `${path}.new`, `./${program.main}`], source);
  await chmod(`${path}.new`, 0o755);
  await rename(`${path}.new`, path);
  await rm(source, { recursive: true, force: true });
  return path;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
