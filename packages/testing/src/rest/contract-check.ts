import { COMMON_ERRORS, ERROR_DETAILS, ErrorBody } from '@cardea/contracts';
import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { EndpointValue } from './endpoint-match.ts';

/** A response that the contract does not know. */
export class ContractBroken extends Error {
  override readonly name = 'ContractBroken';
}

type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
  readonly code: string | undefined;
};
type Contract = EndpointValue['contract'];

const CHECKS = new WeakMap<TSchema, ReturnType<typeof Compile>>();
const ERRORS_SHOWN = 5;

/** Without an endpoint only the common codes are allowed, because no service owns that path. */
export function checkAnswer(
  endpoint: EndpointValue | undefined,
  request: string,
  answer: Answer,
): void {
  const contract = endpoint?.contract;
  if (answer.status < 400) {
    if (contract !== undefined) checkSuccess(contract, request, answer);
    return;
  }
  if (contract?.audience === 'page' && typeof answer.body !== 'object') return; // A page shows the refusal as text.
  if (typeof (answer.body as { error?: unknown })?.error === 'string') return; // The response has RFC 6749's own body.
  checkShape(ErrorBody, `${request}: the error body`, answer);
  checkDetails(request, answer);
  const known = contract === undefined ? common() : codesOf(contract);
  const at = known.get(answer.code ?? '');
  if (at?.has(answer.status) !== true) {
    throw new ContractBroken(
      `${request} answered ${answer.status} ${answer.code}, which its contract does not name.`,
    );
  }
}

function checkSuccess(contract: Contract, request: string, answer: Answer): void {
  const { status = 200, others, mediaType } = contract.response ?? {};
  const schema = others?.[answer.status] ?? (answer.status === status ? contract.ok : undefined);
  if (mediaType !== undefined) return;
  if (answer.status === 302 || answer.status === 303) return; // A `raw` response.
  if (schema === undefined) {
    throw new ContractBroken(
      `${request} answered ${answer.status}, which its contract does not name.`,
    );
  }
  if (answer.status !== 204) checkShape(schema, request, answer);
}

function checkShape(schema: TSchema, subject: string, answer: Answer): void {
  let check = CHECKS.get(schema);
  if (check === undefined) {
    check = Compile(schema);
    CHECKS.set(schema, check);
  }
  if (check.Check(answer.body)) return;
  const faults = check
    .Errors(answer.body)
    .slice(0, ERRORS_SHOWN)
    .map((fault) => `${fault.instancePath || '/'} ${fault.message}`);
  throw new ContractBroken(
    `${subject} (${answer.status}) does not fit its schema: ${faults.join('; ')}`,
  );
}

/** The schema of the details of each code in the document. A code without one has no details. */
const DETAILS = new Map<string, TSchema>(
  Object.entries(ERROR_DETAILS).map(([code, details]) => [code, withDetails(details)]),
);
const NO_DETAILS = withDetails(Type.Never());
/** A refused request names the refused field and the rule. */
const SOME_DETAILS = Type.Object({
  error: Type.Object({
    details: Type.Union([
      Type.Array(Type.Object({ field: Type.String(), rule: Type.String() }), { minItems: 1 }),
      Type.Object({ field: Type.String(), rule: Type.String() }),
    ]),
  }),
});

function checkDetails(request: string, answer: Answer): void {
  const code = answer.code ?? '';
  const schema = DETAILS.get(code) ?? DETAILS.get(code.toLowerCase()) ?? NO_DETAILS;
  checkShape(schema, `${request}: the details of ${code}`, answer);
  if (answer.status === 400) checkShape(SOME_DETAILS, `${request}: the details of ${code}`, answer);
}

function withDetails(details: TSchema): TSchema {
  return Type.Object({ error: Type.Object({ details: Type.Optional(details) }) });
}

function common(): Map<string, Set<number>> {
  return new Map(Object.entries(COMMON_ERRORS).map(([code, status]) => [code, new Set([status])]));
}

/** Every code that the endpoint may answer, with its statuses. */
function codesOf(contract: Contract): Map<string, Set<number>> {
  const known = new Map<string, Set<number>>();
  const add = (code: string, status: number): void => {
    known.set(code, (known.get(code) ?? new Set()).add(status));
  };
  const spelled = (code: string): string =>
    contract.response?.codes?.[code] ??
    (contract.response?.errors === 'upper_case' ? code.toUpperCase() : code);
  for (const [code, status] of Object.entries(COMMON_ERRORS)) add(spelled(code), status);
  for (const [code, status] of Object.entries(contract.refusals)) add(code, status);
  for (const { code, status } of Object.values(contract.notTaken ?? {})) add(code, status);
  return known;
}
