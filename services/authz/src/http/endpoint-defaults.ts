/** Schemas and rules that the tuple endpoints share. */
import { instantOf } from '@cardea/contracts';
import { printToken, type Request } from '@cardea/http';
import type { Clock } from '@cardea/runtime';
import Type from 'typebox';
import { Work } from '../engine/work.ts';
import type { Unanswered } from '../replicas/answered.ts';
import type { Asking, Soon } from '../replicas/engine.ts';

const TIME_CHARS_MAX = 64;
export const LOG = 'authz';
export const TAG = 'Fine-grained authorization';

/** Any user, agent or machine of the tenant may send questions. Agent keys are not accepted. */
export const READS = {
  who: ['user', 'agent_token', 'api_key:fga:read'],
  machine: 'any',
  tag: TAG,
  access: {
    // Tuples are no person's own data: every caller that may query the tenant may query all of it.
    class: 'things',
    applicationScope: 'any',
  },
  notTaken: { agent_key: { status: 401, code: 'unauthenticated' } },
} as const;
export const WRITES = {
  ...READS,
  access: { class: 'things', applicationScope: 'roles' },
  who: ['admin', 'api_key:fga:write'],
  machine: 'fga:write',
} as const;

/** Why a question cannot be answered now. */
export const UNANSWERED = {
  evaluation_budget_exceeded: 503,
  not_caught_up: 503,
  overloaded: 503,
  invalid_request: 400,
} as const;

/** Calls back at once if nothing has to be waited for, so that most answers need no turn of the promise queue. */
export const onceAnswered = <Answer, Result>(
  answer: Soon<Answer>,
  resultOf: (answer: Answer) => Result,
): Soon<Result> => (answer instanceof Promise ? answer.then(resultOf) : resultOf(answer));

type Refusal = { readonly refused: keyof typeof UNANSWERED; readonly details?: object[] };

/** Only the evaluation knows which relations exist. */
export const refusalOf = (unanswered: Unanswered, field = 'relation'): Refusal =>
  unanswered === 'unknown_relation'
    ? { refused: 'invalid_request', details: [{ field, rule: 'enum' }] }
    : { refused: unanswered };

/** The field of a question about an earlier time. The response repeats it. */
export const asOfShape = {
  as_of: Type.Optional(Type.String({ format: 'date-time', maxLength: TIME_CHARS_MAX })),
};
/** The reasons for which questions about the past are refused. */
export const LOOKING_BACK = { ...UNANSWERED, forbidden: 403 } as const;

type LookingBack = {
  readonly tenantId: string;
  readonly positionSeen: bigint | undefined;
  readonly signal: AbortSignal;
  readonly principal: NonNullable<Request<unknown, unknown, unknown>['principal']>;
  readonly body: { readonly as_of?: string };
};
type Refused =
  | { readonly refused: 'forbidden' }
  | { readonly refused: 'invalid_request'; readonly details: object[] };

/** Questions about an earlier time are for admins, machines with that role, and keys. A future time is refused. */
export function askingAt(request: LookingBack, clock: Clock): Asking | Refused {
  const { principal, body } = request;
  const of = askingOf(request);
  if (body.as_of === undefined) return of;
  const hasRoles = principal.kind === 'user' || principal.kind === 'client';
  const isAdmin = hasRoles && principal.roles.includes('admin');
  if (!isAdmin && principal.kind !== 'api_key') return { refused: 'forbidden' };
  const asOf = instantOf(body.as_of);
  if (asOf !== null && asOf <= clock.now()) return { ...of, asOf };
  return { refused: 'invalid_request', details: [{ field: 'as_of', rule: 'past' }] };
}

export const echoOf = ({ as_of }: { readonly as_of?: string }) =>
  as_of === undefined ? {} : { as_of };

/** The context of every question: the tenant, the work that the request may cause, and the required freshness. */
export const askingOf = ({
  tenantId,
  positionSeen,
  signal,
}: Pick<LookingBack, 'tenantId' | 'positionSeen' | 'signal'>): Asking => ({
  tenantId,
  work: new Work(tenantId, signal),
  atLeast: positionSeen,
});

export const consistent = (position: bigint) => ({
  'X-Service-Consistency': printToken(LOG, position),
});
