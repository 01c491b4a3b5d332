/** The type of a command of `cardea`. */
import { type Environment, type RootLogger, storedId } from '@cardea/runtime';
import type { Deployment } from './deployment.ts';
import { WrongUsage } from './failures.ts';

/** The result of a command, for people and for programs. */
export type CommandOutput = {
  /** False if the command ran and found a failure. The exit code is then 1. */
  readonly ok: boolean;
  readonly lines: readonly string[];
  readonly json: object;
  /** The exit code of a program that the command ran. Otherwise `ok` decides. */
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
  /** Opens the deployment at the first call. It is closed after the command. */
  readonly open: () => Promise<Deployment>;
  /** Prints a line immediately, before the end of a command that takes long. */
  readonly tell: (line: string, json: object) => void;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
};

export type Command = {
  /** One word or two: `projections rebuild`. */
  readonly name: string;
  readonly summary: string;
  /** An example of what to type after `cardea`. */
  readonly example?: string;
  /** Placeholders in order. Those in brackets are optional, and the last may stand for any number (`…`). */
  readonly words?: readonly string[];
  readonly options?: { readonly [name: string]: OptionForm };
  /** Set if the command deletes something permanently, always or with certain options. It requires `--yes` then. */
  readonly destroys?: true | ((options: Call['options']) => boolean);
  readonly run: (call: Call) => Promise<CommandOutput>;
};

export const done = (lines: readonly string[], json: object = {}): CommandOutput => ({
  ok: true,
  lines,
  json,
});

/** Reads a string option that contains a whole number within limits. */
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

/** Ids are parsed as the API parses them. */
export function idOf(call: Call, name: string): string | undefined {
  const given = textOf(call, name);
  return given === undefined ? undefined : storedId(given);
}

/** Aligns columns, each as wide as its longest cell. */
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
