import type { AgentPrincipal, ApiKeyPrincipal, Principal, UserPrincipal } from '@cardea/auth';
import type { Static, TObject, TSchema } from 'typebox';

/**
 * Who passes the door of an endpoint. A caller of a kind that is not listed gets 403 `forbidden`,
 * unless `notTaken` names another answer for that kind.
 */
export type Caller =
  /** A user's own token. */
  | 'user'
  /** A user's own token with role admin (403 `forbidden` without). */
  | 'admin'
  /** … with role owner, system_admin. */
  | 'owner'
  | 'system_admin'
  /** An agent's token. */
  | 'agent_token'
  | 'agent_key'
  /** An `svc_` key with this scope (403 `insufficient_scope` without). */
  | `api_key:${string}`;

export type Who = 'anyone' | readonly Caller[];

/** Whom a handler may meet, by its contract's `who`; nobody is known on `anyone` endpoints. */
export type CallerOf<By extends Who> = By extends readonly Caller[]
  ? PrincipalOf<By[number]>
  : undefined;
type PrincipalOf<Kind extends Caller> = Kind extends 'agent_token' | 'agent_key'
  ? AgentPrincipal
  : Kind extends `api_key:${string}`
    ? ApiKeyPrincipal
    : UserPrincipal;

/** Service area that a refusal of this endpoint is recorded under (audit). */
export type Area = 'user' | 'admin' | 'agent' | 'vault' | 'authorization' | 'fga';

export type TenantRule =
  /** `X-Service-Tenant` must be there; for `anyone` endpoints it says which tenant is meant. */
  | 'required'
  /** The token names the tenant; the header may repeat it. */
  | 'optional'
  | 'none';

export type Contract<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Ok extends TSchema = TSchema,
  Reason extends string = string,
  Other extends TSchema = TSchema,
  By extends Who = Who,
> = {
  /** snake_case, unique: operation id, audit operation, metric label. */
  readonly name: string;
  /** What a client's author would call it, where that is not `name`; in snake_case too. */
  readonly clientName?: string;
  readonly summary: string;
  readonly tag: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With `{name}` for parameters: `/api/v1/ciba/requests/{id}/approve`. */
  readonly path: string;
  readonly who: By;
  readonly tenant: TenantRule;
  readonly area: Area;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** True: none, empty and `{}` bodies are the same, with or without content type. */
  readonly bodyOptional?: boolean;
  /** Shape of the success body; its status (200 unless stated). Other successes stand in `otherOk`. */
  readonly ok: Ok;
  readonly status?: number;
  readonly otherOk?: { readonly [status: number]: Other };
  /** Not JSON: the handler answers a `raw` body of this media type. */
  readonly okMediaType?: string;
  /** Every reason that the handler may give, with the status it is answered with. */
  readonly refusals: Readonly<Record<Reason, number>>;
  /**
   * `Cache-Control: no-store`: whatever asks who calls, unless false stands here; of the other endpoints
   * those that say true, for they answer with secrets.
   */
  readonly noStore?: boolean;
  /** The answer shows a secret that is made now: not to somebody who lost the role for it meanwhile. */
  readonly showsSecret?: true;
  /**
   * How callers of a genuine kind that is not taken are answered, instead of 403 `forbidden`. Agents
   * are told by `agent_key` where they come with a key, else by `agent`.
   */
  readonly notTaken?: {
    readonly [kind in 'user' | 'agent' | 'agent_key' | 'api_key']?: {
      readonly status: number;
      readonly code: string;
    };
  };
  /** Other codes for the door's own errors on this endpoint, e.g. `{unauthenticated: 'INVALID_AGENT_KEY'}`. */
  readonly doorCodes?: { readonly [code: string]: string };
  /** Upper-cases the door's remaining codes (vending). */
  readonly upperCaseCodes?: boolean;
  /** Projections that must have passed what the handler wrote before the answer leaves (2 s at most). */
  readonly waitsFor?: readonly string[];
  /** Reads: projections that a sent `X-Service-Consistency` is waited for on. */
  readonly reads?: readonly string[];
  /**
   * `Idempotency-Key` is honoured: see {@link Request.commandId}. `by_handler`: the handler calls
   * `identify` itself, once the limits of callers without a credential are passed, for a key's first
   * use is stored.
   */
  readonly idempotent?: true | 'by_handler';
  /**
   * Of an endpoint that is neither GET nor idempotent: whether a client that got no answer may send it
   * again. `safe`: a repeat changes nothing more; `never`: it does it twice, or is refused.
   */
  readonly retry?: 'safe' | 'never';
  /** The handler itself reads `X-Service-Consistency`, and answers with it. */
  readonly handlesConsistency?: true;
  /** Takes the session's capability token in `X-Service-Token` beside the agent key. */
  readonly needsCapability?: true;
  /** A wrong answer here is no `action.denied` (the handler's own events say it). Refusal codes, or true for all. */
  readonly recordsItsRefusals?: true | readonly string[];
  /**
   * 404 unless the server is bound to loopback and the request is directly for it; `serve` may be told
   * to share such endpoints.
   */
  readonly loopbackOnly?: boolean;
  /** Hidden from OpenAPI and gateway: `/internal/*`, `/dev/*`. */
  readonly internal?: boolean;
  /** Largest body, bytes; 256 KiB unless stated. */
  readonly bodyLimitBytes?: number;
};

/** What a client may do that got no answer: send it again, only with its `Idempotency-Key`, or not. */
export function retryOf({ method, idempotent, retry }: Contract): 'safe' | 'key' | 'never' {
  if (method === 'get') return 'safe';
  return idempotent === undefined ? (retry ?? 'never') : 'key';
}

/** What a handler gets. Everything in it was checked against the contract. */
export type Request<Params, Query, Body, By = Principal | undefined> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** One of those whom `who` lists; undefined on `anyone` endpoints (where a sent bearer is ignored). */
  readonly principal: By;
  /** The principal's tenant, else the header's; '' when there is none. */
  readonly tenantId: string;
  readonly appId: string | undefined;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /**
   * UUID of the command that this request is. Derived from (tenant, principal, operation,
   * Idempotency-Key, how often that was used afresh) when the endpoint is idempotent and the key was
   * sent; without a principal from the client's network and the body too; else fresh.
   */
  readonly commandId: string;
  /** The sent key, with a SHA-256 of the canonical body, for endpoints that compare a repeat. */
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | undefined;
  /** True when the endpoint takes users by role only: such a caller acts as an admin, not as a user. */
  readonly asksForRole: boolean;
  /** The contract's name. */
  readonly operation: string;
  /** Asked by HEAD, which a GET endpoint answers too: for the few where looking has an effect. */
  readonly isHead?: boolean;
  readonly headers: { readonly [name: string]: string | undefined };
  /** Aborts when the client goes away or the process drains. */
  readonly signal: AbortSignal;
  /** True once the process stops: long polls answer at once. */
  readonly draining: AbortSignal;
};

export type Answer<Ok, Reason extends string> =
  | {
      readonly ok: Ok;
      readonly status?: number;
      /** Position of the last event written; makes the answer wait and carry the consistency token. */
      readonly wrote?: bigint | undefined;
      readonly headers?: { readonly [name: string]: string };
    }
  | {
      readonly refused: Reason;
      readonly details?: object;
      readonly message?: string;
      readonly wrote?: bigint | undefined;
      readonly headers?: { readonly [name: string]: string };
      /** What it was about, for the audit row. */
      readonly target?: { readonly type: string; readonly id: string | null };
    }
  /** Not JSON: streamed by the handler (CSV, HTML, redirect). */
  | {
      readonly raw: (response: import('node:http').ServerResponse) => Promise<void> | void;
    };

export type Endpoint = {
  readonly contract: Contract;
  // The types are erased here; what they promised was checked by the contract's schemas.
  readonly handle: (
    // biome-ignore lint/suspicious/noExplicitAny: a handler of any request fits.
    request: Request<any, any, any>,
    // biome-ignore lint/suspicious/noExplicitAny: its own `admit` made it, and `endpoint` compared the types.
    admitted: any,
  ) => Promise<Answer<unknown, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: likewise.
  readonly admit?: Admit<any, any, string, unknown>;
};

/**
 * A check that comes before the body is looked at and after authentication, tenant and role: vending
 * checks its capability token here. Answers the refusal, or what it found, which the handler receives.
 * `body` is undefined.
 */
export type Admit<Params, Query, Reason extends string, Admitted, By = Principal | undefined> = (
  request: Request<Params, Query, undefined, By>,
) => Promise<Refused<Reason> | { readonly admitted: Admitted }>;
type Refused<Reason extends string> = Extract<Answer<never, Reason>, { readonly refused: Reason }>;

type NoFields = TObject<Record<never, never>>;
type Success<Ok extends TSchema, Other extends TSchema> =
  | Static<Ok>
  | ([Other] extends [never] ? never : Static<Other>);

/** Binds a contract to the function that fulfils it; the types of one check the other. */
export function endpoint<
  Ok extends TSchema,
  const Reason extends string = never,
  Params extends TObject = NoFields,
  Query extends TObject = NoFields,
  Body extends TSchema = NoFields,
  Other extends TSchema = never,
  const By extends Who = Who,
>(
  contract: Contract<Params, Query, Body, Ok, Reason, Other, By>,
  handle: (
    request: Request<Static<Params>, Static<Query>, Static<Body>, CallerOf<By>>,
  ) => Promise<Answer<Success<Ok, Other>, Reason>>,
): Endpoint;
/** With a check of its own before the body; in the order in which a request meets them. */
export function endpoint<
  Ok extends TSchema,
  const Reason extends string = never,
  Params extends TObject = NoFields,
  Query extends TObject = NoFields,
  Body extends TSchema = NoFields,
  Other extends TSchema = never,
  const By extends Who = Who,
  Admitted = never,
>(
  contract: Contract<Params, Query, Body, Ok, Reason, Other, By>,
  admit: Admit<Static<Params>, Static<Query>, Reason, Admitted, CallerOf<By>>,
  handle: (
    request: Request<Static<Params>, Static<Query>, Static<Body>, CallerOf<By>>,
    admitted: Admitted,
  ) => Promise<Answer<Success<Ok, Other>, Reason>>,
): Endpoint;
export function endpoint(contract: unknown, first: unknown, second?: unknown): Endpoint {
  const made =
    second === undefined ? { contract, handle: first } : { contract, admit: first, handle: second };
  return made as Endpoint;
}
