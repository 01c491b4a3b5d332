/** Builds programs from their Go modules. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { output } from './docker.ts';

export type GoPrograms = {
  readonly module: string;
  /** The folder for the copy of the module. */
  readonly folder: string;
  /** The file name of each program, and its package in the module. */
  readonly programs: { readonly [file: string]: string };
  readonly flags?: string;
  readonly env?: { readonly [name: string]: string };
  /** Changes the copy before it is built. */
  readonly prepare?: (copy: string) => void;
};

/**
 * Builds the programs in a copy, as the main module, because `go install` refuses modules with `replace` and `exclude`
 * lines.
 */
export async function buildGoPrograms(of: GoPrograms): Promise<void> {
  const asked = await output('go', ['mod', 'download', '-json', of.module]);
  const { Dir: source } = JSON.parse(asked) as { readonly Dir: string };
  const copy = join(of.folder, 'source');
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  await output('cp', ['-r', '--no-preserve=mode', `${source}/.`, copy]);
  of.prepare?.(copy);
  for (const [file, folder] of Object.entries(of.programs)) {
    const flags = ['-mod=mod', '-trimpath', '-ldflags', `-s -w ${of.flags ?? ''}`];
    const env = { CGO_ENABLED: '0', ...of.env };
    await output('go', ['build', ...flags, '-o', file, folder], { cwd: copy, env });
  }
  rmSync(copy, { recursive: true, force: true });
}
