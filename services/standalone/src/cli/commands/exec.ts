/**
 * Runs a command with fields of a credential in its environment. The fields come from the vault through the agent's own
 * key, and appear in no file, argument or output of ours.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { type Call, type Command, textOf } from '../command.ts';
import { NotDone, WrongUsage } from '../failures.ts';
import { agentAccess, vendFields } from '../vending.ts';

const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;
const NOT_FOUND_EXIT = 127;
const NOT_EXECUTABLE_EXIT = 126;
const SIGNAL_EXIT = 128;
const FIELDS_MAX = 50;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const exec: Command = {
  name: 'exec',
  summary:
    'Runs a command with fields of a credential in its environment, as the agent of CARDEA_AGENT_KEY; ends with its exit code.',
  example:
    'exec --session as_0198c2f4 --service erp --fields api_key=ERP_KEY -- curl -fsS https://erp.example.com',
  words: ['<command>', '[argument…]'],
  options: {
    session: {
      type: 'string',
      value: 'ID',
      help: 'session of the agent, whose token is in CARDEA_CAPABILITY',
    },
    service: { type: 'string', value: 'NAME', help: 'service of the credential' },
    fields: {
      type: 'string',
      value: 'FIELD[=VARIABLE],…',
      help: 'field to pass, in the variable SERVICE_FIELD unless named',
    },
    approval: { type: 'string', value: 'ID', help: 'approval by a person' },
  },
  run: async (call) => {
    const session = given(call, 'session');
    const service = given(call, 'service');
    const variables = variablesOf(given(call, 'fields'), service);
    const access = agentAccess(call.env);
    const values = await vendFields(access, {
      session,
      service,
      fields: [...variables.keys()],
      approval: textOf(call, 'approval'),
    });
    const env: { [name: string]: string | undefined } = { ...call.env };
    for (const name of access.names) delete env[name];
    for (const [field, variable] of variables) env[variable] = values[field];
    const exitCode = await run(call.words, env);
    return { ok: exitCode === 0, exitCode, lines: [], json: { exit_code: exitCode } };
  },
};

function given(call: Call, option: string): string {
  const value = textOf(call, option);
  if (value === undefined || value === '') throw new WrongUsage(`--${option} is missing`);
  return value;
}

/** Maps fields to variables. Two fields may not use one variable. */
function variablesOf(fields: string, service: string): ReadonlyMap<string, string> {
  const pairs = fields.split(',').map((each): readonly [string, string] => {
    const [field = '', variable] = each.split('=', 2);
    return [field, variable ?? `${service}_${field}`.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')];
  });
  const variables = new Map(pairs);
  const names = new Set(variables.values());
  const isRight = pairs.every(([field, name]) => field !== '' && VARIABLE.test(name));
  if (!isRight || names.size < pairs.length || pairs.length > FIELDS_MAX) {
    throw new WrongUsage('--fields takes FIELD or FIELD=VARIABLE, comma between, each once');
  }
  return variables;
}

async function run(
  [command = '', ...args]: readonly string[],
  env: { readonly [name: string]: string | undefined },
): Promise<number> {
  const child = spawn(command, args, { env, stdio: 'inherit' });
  const forwards = FORWARDED.map((signal) => {
    // At a terminal Ctrl-C has reached the whole process group already.
    const isOurs = signal !== 'SIGINT' || !process.stdin.isTTY;
    const forward = (): void => {
      if (isOurs) child.kill(signal);
    };
    process.on(signal, forward);
    return () => process.off(signal, forward);
  });
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', ({ code }: NodeJS.ErrnoException) => {
        if (code === 'ENOENT') resolve(NOT_FOUND_EXIT);
        else if (code === 'EACCES') resolve(NOT_EXECUTABLE_EXIT);
        else reject(new NotDone('the command cannot be started', 'command_not_started'));
      });
      child.once('exit', (code, signal) => {
        resolve(code ?? SIGNAL_EXIT + (signal === null ? 0 : constants.signals[signal]));
      });
    });
  } finally {
    for (const off of forwards) off();
  }
}
