/**
 * Writes the description of an operation: its contract's text, who may call it, what it costs, and what each of its own
 * refusals means. Everything except the first part is derived from the contract's fields.
 */
import { applicationScopeOf, type StepUp, stepUpOf, USER_CALLERS } from '../contract/caller.ts';
import { type Contract, retryOf } from '../contract/contract.ts';
import { whatToDo } from './error-help.ts';

const BYTES_PER_KIB = 1024;

/** Undefined for a contract that has no description. */
export function descriptionOf(contract: Contract): string | undefined {
  if (contract.description === undefined) return undefined;
  const parts = [contract.description, whoMay(contract), ...costs(contract), refusals(contract)];
  return parts.filter((part) => part !== '').join('\n\n');
}

function whoMay(contract: Contract): string {
  const { who } = contract;
  if (who === 'anyone')
    return '**Who may call it**: everybody; no credential is needed beyond what is said above.';
  // Agents are also accepted here, but only to get their own refusal, which tells them that a user in person is
  // required.
  const inPerson = 'user_session_required' in contract.refusals;
  const taken = inPerson ? who.filter((caller) => USER_CALLERS.includes(caller)) : who;
  const callers = [...taken.map(callerName), ...machineName(contract)];
  const takesUsers = who.some((caller) => USER_CALLERS.includes(caller));
  return [
    `**Who may call it**: ${callers.join('; ')}.`,
    ...(takesUsers ? [applicationRule(contract), STEP_UP[stepUpOf(contract)]] : []),
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function callerName(caller: Exclude<Contract['who'], 'anyone'>[number]): string {
  switch (caller) {
    case 'user':
      return 'any user, with an access token';
    case 'admin':
    case 'owner':
    case 'system_admin':
      return `users with the role \`${caller}\``;
    case 'agent_token':
      return 'agents, with the token of a session';
    case 'agent_key':
      return 'agents, with their key';
    default:
      return `API keys with the scope \`${caller.slice('api_key:'.length)}\``;
  }
}

function machineName({ who, machine = 'never' }: Contract): readonly string[] {
  if (machine === 'never' || who === 'anyone') return [];
  if (machine === 'any') return ['applications with a token of their own (`client_credentials`)'];
  const takesKeys = who.some((caller) => caller.startsWith('api_key:'));
  const role = takesKeys ? '' : ' and that role';
  return [`applications with a token of their own, the scope \`${machine}\`${role}`];
}

/** The rule for a token that an application got from its user. */
function applicationRule(contract: Contract): string {
  const applicationScope = applicationScopeOf(contract);
  const needed =
    applicationScope === 'any'
      ? ''
      : `An application that acts for its user needs the scope \`${applicationScope}\`.`;
  const impersonation =
    contract.access?.class === 'settings'
      ? 'An administrator who impersonates a user may not.'
      : '';
  return [needed, impersonation].filter((part) => part !== '').join(' ');
}

const STEP_UP: { readonly [rule in StepUp]: string } = {
  none: '',
  users:
    'A user must have signed in within the last 10 minutes, or call `POST /api/v1/auth/step-up` first (401 `step_up_required`).',
  applications:
    'Where an application acts for its user, the user must have signed in within the last 10 minutes (401 `step_up_required`).',
};

function costs(contract: Contract): readonly string[] {
  const limitBytes = contract.input?.limitBytes;
  const again = {
    safe: '',
    key: 'Send an `Idempotency-Key`, so that the request can be repeated when no answer comes.',
    never:
      'When no answer comes, read the state first: a repeat has a second effect or is refused.',
  }[retryOf(contract)];
  const size =
    limitBytes === undefined ? '' : `The body may have ${limitBytes / BYTES_PER_KIB} KiB.`;
  const parts = [again, size].filter((part) => part !== '');
  return parts.length === 0 ? [] : [`**Repeats and limits**: ${parts.join(' ')}`];
}

/** The handler's refusals. Those that every operation may return are in the introduction. */
function refusals(contract: Contract): string {
  const lines = Object.entries(contract.refusals)
    .sort(([a, first], [b, second]) => first - second || (a < b ? -1 : 1))
    .map(([code, status]) => `- ${status} \`${code}\`: ${whatToDo(code)}`);
  return lines.length === 0 ? '' : `**What may go wrong**:\n${lines.join('\n')}`;
}
