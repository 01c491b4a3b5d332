/**
 * Declares a call from one service to another that does not go over a topic: a function call when both run in one
 * process, else a request to the internal listener. Both sides validate against the declaration: the server refuses a
 * request that does not fit, the client a response that does not. Requests are closed, so a server must know a new
 * field one release before clients send it. Responses may have fields that the client does not know.
 */
import type { Static, TObject, TSchema } from 'typebox';

export type InternalCall = {
  /** The name in logs and metrics: snake_case, unique. */
  readonly name: string;
  readonly summary: string;
  readonly method: 'get' | 'post';
  readonly path: `/internal/v1/${string}`;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TObject;
  /** The known outcomes; the caller treats any other as a failed call. */
  readonly ok: TSchema;
  readonly refusals: Readonly<Record<string, number>>;
  /** The field that names the tenant. The header `X-Service-Tenant` has to repeat it. */
  readonly tenantField?: string;
};

/** One service's calls, by the name that its callers use. */
export const internalCalls = <const Calls extends { readonly [name: string]: InternalCall }>(
  calls: Calls,
): Calls => calls;

/** Refusals of a call within one tenant, if header and body name different tenants. */
export const TENANT_REFUSALS = { tenant_mismatch: 401 } as const;

/** The request: parameters, query and body in one object, since their names do not overlap. */
export type RequestOf<Call extends InternalCall> = DeepReadonly<
  FieldsOf<Call, 'params'> & FieldsOf<Call, 'query'> & FieldsOf<Call, 'body'>
>;
export type AnswerOf<Call extends InternalCall> = DeepReadonly<Static<Call['ok']>>;
/** The call as a function, for caller and server in the same process. */
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
