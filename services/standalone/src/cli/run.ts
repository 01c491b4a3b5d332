/** `cardea <command>`: finds the command, runs it, and reports the result as text, as JSON and by the exit code. */
import { parseArgs } from 'node:util';
import { UnknownWrapKey } from '@cardea/crypto';
import { TopicsMisfit } from '@cardea/event-bus';
import { LocalPostgresError } from '@cardea/local-postgres';
import { DatabaseUnavailable, MigrationRefused } from '@cardea/read-models';
import { type Environment, logger, publicError, type RootLogger } from '@cardea/runtime';
import type { Call, Command, CommandOutput, OptionForm } from './command.ts';
import { commands } from './commands.ts';
import { type Deployment, openDeployment } from './deployment.ts';
import { NotDone, WrongConfiguration, WrongUsage } from './failures.ts';
import { generalHelp, helpOf } from './help.ts';

const EXIT = { done: 0, failed: 1, usage: 2, configuration: 78 } as const;

export const COMMON_OPTIONS: { readonly [name: string]: OptionForm } = {
  data: { type: 'string', value: 'DIR', help: 'data folder of the deployment' },
  json: { type: 'boolean', help: 'answer in JSON' },
  help: { type: 'boolean', help: 'show this help' },
};
const YES: { readonly [name: string]: OptionForm } = {
  yes: { type: 'boolean', help: 'run it: what it deletes cannot be restored' },
};

export type Terminal = {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly version: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly signal: AbortSignal;
};

export async function runCardea(terminal: Terminal): Promise<number> {
  const { args, out, err } = terminal;
  const found = commands.find(({ name }) => startsWith(args, name.split(' ')));
  const isHelp = args.length > 0 && ['--help', 'help'].includes(args[0] ?? '');
  if (found === undefined) {
    (isHelp ? out : err)(generalHelp(commands));
    return isHelp ? EXIT.done : EXIT.usage;
  }
  const json = ownArguments(args).includes('--json');
  let opened: Deployment | undefined;
  try {
    const { words, options } = read(found, args.slice(found.name.split(' ').length));
    if (options['help'] === true) {
      out(helpOf(found, optionsOf(found)));
      return EXIT.done;
    }
    if (isDestroying(found, options) && options['yes'] !== true) {
      throw new WrongUsage('this takes something away for good: say --yes');
    }
    const { env, version, signal } = terminal;
    const log = logOf(terminal);
    const data = options['data'] as string | undefined;
    const open = async (): Promise<Deployment> => {
      opened ??= await openDeployment({ env, version, log, data });
      return opened;
    };
    const tell: Call['tell'] = (line, value) => out(`${json ? JSON.stringify(value) : line}\n`);
    const said = await found.run({ words, options, env, version, log, open, tell, signal });
    say(terminal, said, json);
    return said.exitCode ?? (said.ok ? EXIT.done : EXIT.failed);
  } catch (error) {
    return failed(terminal, { error, json, command: found });
  } finally {
    await opened?.close();
  }
}

/** Words after `--` belong to another program. */
const ownArguments = (args: readonly string[]): readonly string[] =>
  args.includes('--') ? args.slice(0, args.indexOf('--')) : args;

const startsWith = (args: readonly string[], name: readonly string[]): boolean =>
  name.every((word, at) => args[at] === word);

const isDestroying = ({ destroys }: Command, options: Call['options']): boolean =>
  typeof destroys === 'function' ? destroys(options) : destroys === true;

const optionsOf = (command: Command): { readonly [name: string]: OptionForm } => ({
  ...command.options,
  ...(command.destroys === undefined ? {} : YES),
  ...COMMON_OPTIONS,
});

function read(command: Command, args: readonly string[]): Pick<Call, 'words' | 'options'> {
  const forms = optionsOf(command);
  const options = Object.fromEntries(
    Object.entries(forms).map(([name, { type }]) => [name, { type }]),
  );
  let parsed: { values: Call['options']; positionals: string[] };
  try {
    const read = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    parsed = { values: read.values as Call['options'], positionals: read.positionals };
  } catch {
    throw new WrongUsage('an option is unknown, or its value is missing');
  }
  const words = command.words ?? [];
  const needed = words.filter((word) => !word.startsWith('['));
  const count = parsed.positionals.length;
  const isHelp = parsed.values['help'] === true;
  const most = words.at(-1)?.includes('…') === true ? Number.POSITIVE_INFINITY : words.length;
  if (!isHelp && (count < needed.length || count > most)) {
    throw new WrongUsage(
      words.length === 0 ? 'takes no further words' : `takes ${words.join(' ')}`,
    );
  }
  return { words: parsed.positionals, options: parsed.values };
}

/** The log goes to standard error, separate from the result, and contains only faults. */
const logOf = ({ version, err }: Terminal): RootLogger =>
  logger({ service: 'cardea', version, level: 'error', stream: { write: err } });

function say({ out }: Terminal, { ok, lines, json: value }: CommandOutput, json: boolean): void {
  if (json) out(`${JSON.stringify({ ok, ...value })}\n`);
  else if (lines.length > 0) out(`${lines.join('\n')}\n`);
}

function failed(
  { out, err }: Terminal,
  of: { readonly error: unknown; readonly json: boolean; readonly command: Command },
): number {
  const { error, command } = of;
  const { code, message } = explained(error);
  if (of.json) {
    const faults = error instanceof WrongConfiguration ? { faults: error.faults } : {};
    const isOurs = error instanceof WrongConfiguration || error instanceof NotDone;
    const reason = isOurs && error.code !== undefined ? { code: error.code } : {};
    out(`${JSON.stringify({ ok: false, error: { ...reason, message, ...faults } })}\n`);
  } else {
    const more = code === EXIT.usage ? `\n\n${helpOf(command, optionsOf(command))}` : '\n';
    err(`cardea ${command.name}: ${message}${more}`);
  }
  return code;
}

/** Our own errors say what to do. The message of any other error may quote its input, so it is not shown. */
function explained(error: unknown): { readonly code: number; readonly message: string } {
  if (error instanceof WrongUsage) return { code: EXIT.usage, message: error.message };
  for (const kind of [WrongConfiguration, UnknownWrapKey, LocalPostgresError]) {
    if (error instanceof kind) return { code: EXIT.configuration, message: error.message };
  }
  for (const kind of [NotDone, MigrationRefused, DatabaseUnavailable, TopicsMisfit]) {
    if (error instanceof kind) return { code: EXIT.failed, message: error.message };
  }
  const { name, code } = publicError(error) as { name?: string; code?: string };
  return { code: EXIT.failed, message: `failed: ${[name, code].filter(Boolean).join(' ')}` };
}
