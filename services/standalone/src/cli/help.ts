/** The help texts of the commands. */
import { type Command, type OptionForm, table } from './command.ts';

export function generalHelp(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => [`  ${name}`, summary]);
  return [
    'Usage: npm run cardea -- <command> [options]',
    '',
    ...table(rows),
    '',
    'Each command explains its options with --help, and prints JSON with --json.',
    'Exit: 0 done, 1 failed, 2 wrong usage, 78 wrong configuration.',
    '',
  ].join('\n');
}

export function helpOf(
  { name, summary, example, words = [] }: Command,
  options: { readonly [name: string]: OptionForm },
): string {
  const rows = Object.entries(options).map(([option, form]) => [
    `  --${option}${form.type === 'string' ? ` ${form.value}` : ''}`,
    form.help,
  ]);
  return [
    `Usage: npm run cardea -- ${[name, ...words, '[options]'].join(' ')}`,
    '',
    summary,
    '',
    ...table(rows),
    '',
    ...(example === undefined ? [] : [`Example: npm run cardea -- ${example}`, '']),
  ].join('\n');
}
