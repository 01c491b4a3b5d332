/** The form of a command of `cardea`. */
import { type Environment, type RootLogger, storedId } from '@cardea/runtime';
import type { Deployment } from './deployment.ts';
import { WrongUsage } from './failures.ts';

/** The result of a command, for people and for programs. */
export type CommandOutput = {
  /** False if it ran and found a failure; the exit code is then 1. */
  readonly ok: boolean;
  readonly lines: readonly string[];
  readonly json: object;
  /** The exit code of a program that it ran; otherwise `ok` decides. */
  readonly exitCode?: number;
};

export type OptionForm =
  | { readonly type: 'boolean'; readonly help: string }
  /** `value` describes what is expected, e.g. `N`. */
  | { readonly type: 'string'; readonly value: string; readonly help: string };

export type Call = {
  readonly words: readonly string[];
  readonly options: { readonly [name: string]: string | boolean | undefined };
  readonly env: Environment;
  readonly version: string;
  /** Writes to standard error. */
  readonly log: RootLogger;
  /** Opened at the first call, closed after the command. */
  readonly open: () => Promise<Deployment>;
  /** For commands that run for a while: prints a line at once, before the end. */
  readonly tell: (line: string, json: object) => void;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
};

export type Command = {
  /** One word or two: `projections rebuild`. */
  readonly name: string;
  readonly summary: string;
  /** The words to type after `cardea`. */
  readonly example?: string;
  /** Placeholders in order; those in brackets are optional, and the last may stand for any number (`…`). */
  readonly words?: readonly string[];
  readonly options?: { readonly [name: string]: OptionForm };
  /** Deletes something for good, always or with some option: requires `--yes`. */
  readonly destroys?: true | ((options: Call['options']) => boolean);
  readonly run: (call: Call) => Promise<CommandOutput>;
};

export const done = (lines: readonly string[], json: object = {}): CommandOutput => ({
  ok: true,
  lines,
  json,
});

/** A string option that holds a whole number within bounds. */
export function numberOf(
  { options }: Call,
  name: string,
  { min, max, or }: { readonly min: number; readonly max: number; readonly or: number },
): number {
  const given = options[name];
  if (given === undefined) return or;
  const number = Number(given);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new WrongUsage(`--${name} takes a whole number from ${min} to ${max}`);
}

export function textOf({ options }: Call, name: string): string | undefined {
  const given = options[name];
  return typeof given === 'string' ? given : undefined;
}

/** Ids are read as the API reads them. */
export function idOf(call: Call, name: string): string | undefined {
  const given = textOf(call, name);
  return given === undefined ? undefined : storedId(given);
}

/** Columns as wide as they need to be. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
