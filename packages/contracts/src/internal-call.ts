/**
 * Declares what one service asks of another without a topic in between: in one process a function call,
 * elsewhere an endpoint of the internal listener. Both sides check against it: who serves refuses a
 * request that does not fit, who asks takes no answer that does not. A request is closed, so a new field
 * comes to who serves one release before it is sent; an answer may say more than is known here.
 */
import type { Static, TObject, TSchema } from 'typebox';

export type InternalCall = {
  /** snake_case, unique: what logs and metrics call it. */
  readonly name: string;
  readonly summary: string;
  readonly method: 'get' | 'post';
  readonly path: `/internal/v1/${string}`;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TObject;
  /** Every outcome that is known; the caller takes anything else as no answer. */
  readonly ok: TSchema;
  readonly refusals: Readonly<Record<string, number>>;
  /** The field that names the tenant, which the header `X-Service-Tenant` has to say again. */
  readonly tenantField?: string;
};

/** One service's calls, by the name that its callers use. */
export const internalCalls = <const Calls extends { readonly [name: string]: InternalCall }>(
  calls: Calls,
): Calls => calls;

/** Of a call that acts within one tenant: whoever mixes tenants up is refused. */
export const TENANT_REFUSALS = { tenant_mismatch: 401 } as const;

/** What is sent: parameters, query and body in one object, for their names never meet. */
export type RequestOf<Call extends InternalCall> = DeepReadonly<
  FieldsOf<Call, 'params'> & FieldsOf<Call, 'query'> & FieldsOf<Call, 'body'>
>;
export type AnswerOf<Call extends InternalCall> = DeepReadonly<Static<Call['ok']>>;
/** The call as who asks and who answers in the same process see it. */
export type Ask<Call extends InternalCall> = keyof RequestOf<Call> extends never
  ? () => Promise<AnswerOf<Call>>
  : (request: RequestOf<Call>) => Promise<AnswerOf<Call>>;

type FieldsOf<Call, Part extends string> = Call extends { readonly [part in Part]: infer Fields }
  ? Fields extends TObject
    ? Static<Fields>
    : unknown
  : unknown;
type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;
