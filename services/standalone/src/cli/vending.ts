/** Vends fields of a credential over the API, as the agent that the environment names. */
import { type Environment, type Secret, secret } from '@cardea/runtime';
import { givenIn, urlFault, type VariableFault, wrongEnvironment } from './api-environment.ts';
import { NotDone } from './failures.ts';

const ANSWER_MS_MAX = 30_000;
/** An error code of the API. Other texts of an unexpected response are not printed. */
const CODE = /^[A-Za-z_]{1,64}$/;
const ID = /^[\w-]{1,128}$/;

export type AgentAccess = {
  readonly url: URL;
  readonly tenant: string;
  readonly agentKey: Secret;
  readonly capability: Secret;
  /** The variables that give this access. A program that is run gets none of them. */
  readonly names: readonly string[];
};

const VARIABLES = {
  CARDEA_URL: 'the API, as https://cardea.example.com',
  CARDEA_TENANT: 'the id of the tenant',
  CARDEA_AGENT_KEY: 'the key of the agent',
  CARDEA_CAPABILITY: 'the token of the session',
} as const;
type Variable = keyof typeof VARIABLES;

/** Each variable is also accepted as `<NAME>_FILE`. */
export function agentAccess(env: Environment): AgentAccess {
  const names = Object.keys(VARIABLES) as Variable[];
  const read = new Map(names.map((name) => [name, givenIn(env, name)]));
  const faults: VariableFault[] = names
    .filter((name) => !read.get(name))
    .map((name) => ({ name, fault: 'is missing', form: VARIABLES[name] }));
  const url = URL.parse(read.get('CARDEA_URL') ?? '');
  const unsafe = read.get('CARDEA_URL') ? urlFault(url, env) : undefined;
  if (unsafe !== undefined) faults.push(unsafe);
  if (faults.length > 0 || url === null) throw wrongEnvironment(faults);
  return {
    url,
    tenant: read.get('CARDEA_TENANT') ?? '',
    agentKey: secret(read.get('CARDEA_AGENT_KEY') ?? ''),
    capability: secret(read.get('CARDEA_CAPABILITY') ?? ''),
    names: names.flatMap((name) => [name, `${name}_FILE`]),
  };
}

type Vended = { readonly [field: string]: string };

export async function vendFields(
  { url, tenant, agentKey, capability }: AgentAccess,
  of: {
    readonly session: string;
    readonly service: string;
    readonly fields: readonly string[];
    readonly approval: string | undefined;
  },
): Promise<Vended> {
  const { session, service, fields, approval } = of;
  const path = `/api/v1/agent/sessions/${encodeURIComponent(session)}/credentials`;
  const answer = await fetch(new URL(path, url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${agentKey.reveal()}`,
      'x-service-token': capability.reveal(),
      'x-service-tenant': tenant,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      service_name: service,
      fields,
      ...(approval === undefined ? {} : { approval_id: approval }),
    }),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  }).catch(() => {
    throw new NotDone('CARDEA_URL does not answer', 'unavailable');
  });
  const body = (await answer.json().catch(() => ({}))) as Answer;
  const granted = body.data?.fields;
  if (answer.status === 200 && granted !== undefined) return granted;
  if (answer.status === 202) throw waits(body.data?.approval_id);
  const code = CODE.test(body.error?.code ?? '') ? body.error?.code : undefined;
  throw new NotDone(`the vault answered ${answer.status} ${code ?? ''}`.trimEnd(), code);
}

type Answer = {
  readonly data?: { readonly fields?: Vended; readonly approval_id?: string };
  readonly error?: { readonly code?: string };
};

const waits = (id = ''): NotDone =>
  new NotDone(
    `a person has to approve it first; then run it again with --approval ${ID.test(id) ? id : 'ID'}`,
    'approval_required',
  );
