import type { Principal } from '@cardea/auth';
import type { Static, TObject, TSchema } from 'typebox';
import type { Outgoing } from '../context/headers.ts';
import type { OwnDenial } from '../own-denial.ts';
import type { CallerOf, MachineRule, NamesAccess, NamesMachine, Who } from './caller.ts';
import { type CompleteContract, type Contract, completed } from './contract.ts';

/** The argument of a handler. Everything in it was validated against the contract. */
export type Request<Params, Query, Body, By = Principal | undefined> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** A caller that `who` lists. Undefined on `anyone` endpoints, which ignore a bearer. */
  readonly principal: By;
  /** The principal's tenant, otherwise the header's; '' when there is none. */
  readonly tenantId: string;
  readonly appId: string | undefined;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /**
   * The UUID of the command that this request is. If the endpoint is idempotent and the key was sent, it is derived
   * from (tenant, principal, operation, Idempotency-Key, number of this key's use). Without a principal it is also
   * derived from the client's network and the body. Otherwise it is random.
   */
  readonly commandId: string;
  /** The key that was sent, with a SHA-256 of the canonical body, for endpoints that compare repeats. */
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | undefined;
  /** True when the endpoint accepts users by role only: the caller acts as an admin, not as a user. */
  readonly asksForRole: boolean;
  /** The contract's name. */
  readonly operation: string;
  /** True for HEAD, which GET endpoints answer too. It matters for the few endpoints where reading has an effect. */
  readonly isHead?: boolean;
  readonly headers: { readonly [name: string]: string | undefined };
  /** The position of the service's log that the caller has seen (`X-Service-Consistency`). */
  readonly positionSeen: bigint | undefined;
  /** Aborts when the client disconnects or the stopping process runs out of time. */
  readonly signal: AbortSignal;
  /** Aborts when the process begins to stop, so that long polls return at once. */
  readonly draining: AbortSignal;
  /** Call it between the parts of a long response: it waits until other tenants had their turns. */
  readonly nextPart: () => Promise<void>;
  /** Call it before a request waits for an event, as a long poll does: another request of its tenant may begin. */
  readonly endTurn: () => void;
};

export type Answer<Ok, Reason extends string> =
  | {
      readonly ok: Ok;
      readonly status?: number;
      /** The position of the last event written. The response waits for it and contains the consistency token. */
      readonly wrote?: bigint | undefined;
      /** A list becomes one header per element. */
      readonly headers?: { readonly [name: string]: string | string[] };
      /** The tenant that the body or the caller's own credential named. Its origins may read the response. */
      readonly ofTenant?: string;
    }
  | {
      readonly refused: Reason;
      readonly details?: object;
      readonly message?: string;
      readonly wrote?: bigint | undefined;
      readonly headers?: { readonly [name: string]: string };
      /** The object of the request, for the audit row. */
      readonly target?: { readonly type: string; readonly id: string | null };
    }
  /** The handler writes the response itself: CSV, HTML, a redirect. */
  | {
      readonly raw: (
        response: import('node:http').ServerResponse,
        request: import('node:http').IncomingMessage,
        /** Call it before the headers are sent, with the tenant that the response belongs to, if any. */
        ofTenant: (tenantId: string | undefined) => void,
        /** Records a refusal of a caller that the handler authenticated itself. */
        recordDenial: (denial: OwnDenial) => Promise<void>,
      ) => Promise<void> | void;
    };

/**
 * A call that a page makes to another endpoint of its service, in the name of the person to whom the page is shown.
 * Address, user agent and request id are those of the page's own request.
 */
export type Played = {
  /** The access token of that person. */
  readonly credential: string;
  readonly params?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly body?: unknown;
  /** `Idempotency-Key` and `X-Service-Consistency`; in lower case. */
  readonly headers?: { readonly [name: string]: string };
};

/** A refused request as a value. */
export type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: object | undefined;
  readonly headers?: { readonly [name: string]: string } | undefined;
};

/** How such a call ended. `gone`: the browser has disconnected. */
export type PlayedOutcome =
  | { readonly status: number; readonly body: unknown; readonly headers: Outgoing }
  | { readonly refusal: Refusal; readonly headers: Outgoing }
  | 'gone';

/** Runs a call of another endpoint through the whole request pipeline. */
export type Plays = (endpoint: Endpoint, given: Played) => Promise<PlayedOutcome>;

/** A promise only if the handler waits for something. */
export type HandlerAnswer<Ok = unknown, Reason extends string = string> =
  | Answer<Ok, Reason>
  | Promise<Answer<Ok, Reason>>;
export type Endpoint = {
  readonly contract: CompleteContract;
  // The types are erased here. The contract's schemas have checked the values.
  readonly handle: (
    // biome-ignore lint/suspicious/noExplicitAny: a handler of any request fits.
    request: Request<any, any, any>,
    // biome-ignore lint/suspicious/noExplicitAny: its own `authorize` or `readAhead` made it, and `endpoint` compared the types.
    made: any,
  ) => HandlerAnswer;
  // biome-ignore lint/suspicious/noExplicitAny: likewise.
  readonly authorize?: Authorize<any, any, string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: likewise.
  readonly readAhead?: (request: Request<any, any, any>) => Promise<unknown>;
  /** Replaces `handle` for a page, which shows the responses of other endpoints of its service. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise.
  readonly show?: (request: Request<any, any, any>, plays: Plays) => HandlerAnswer;
};

/** The types of an endpoint's input and output, for code that is derived from its value. */
export type EndpointShape = {
  readonly params: object;
  readonly query: object;
  readonly body: unknown;
  readonly ok: unknown;
  readonly reason: string;
};
declare const SHAPE: unique symbol;
/** An endpoint whose types are known. It exists only at compile time. */
export type EndpointOf<Shape extends EndpointShape> = Endpoint & { readonly [SHAPE]?: Shape };
type Shaped<
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Ok,
  Reason extends string,
> = EndpointOf<{
  params: Static<Params>;
  query: Static<Query>;
  body: Static<Body>;
  ok: Ok;
  reason: Reason;
}>;

/**
 * A check after authentication, tenant and role, and before the body is read. Vending checks its capability token here.
 * Returns the refusal, or a value for the handler. `body` is undefined.
 */
export type Authorize<
  Params,
  Query,
  Reason extends string,
  Authorized,
  By = Principal | undefined,
> = (
  request: Request<Params, Query, undefined, By>,
) => Promise<Refused<Reason> | { readonly authorized: Authorized }>;
type Refused<Reason extends string> = Extract<Answer<never, Reason>, { readonly refused: Reason }>;

type NoFields = TObject<Record<never, never>>;
type Success<Ok extends TSchema, Other extends TSchema> =
  | Static<Ok>
  | ([Other] extends [never] ? never : Static<Other>);

/** The handler of an endpoint, alone or with the step that runs before it and passes it a value. */
type Steps<Params, Query, Body, Ok, Reason extends string, By, Made> =
  | ((request: Request<Params, Query, Body, By>) => HandlerAnswer<Ok, Reason>)
  | {
      readonly authorize: Authorize<Params, Query, Reason, Made, By>;
      readonly handle: Handle<Request<Params, Query, Body, By>, Made, Ok, Reason>;
    }
  | {
      /**
       * Reads that the handler always needs. They are sent together with those that check the caller's role again. They
       * must change nothing, because the caller may be refused.
       */
      readonly readAhead: (request: Request<Params, Query, Body, By>) => Promise<Made>;
      readonly handle: Handle<Request<Params, Query, Body, By>, Made, Ok, Reason>;
    };
type Handle<Given, Made, Ok, Reason extends string> = (
  request: Given,
  made: Made,
) => HandlerAnswer<Ok, Reason>;

/** Binds a contract to its handler; the compiler checks one against the other. */
export const endpoint = <
  Ok extends TSchema,
  const Reason extends string = never,
  Params extends TObject = NoFields,
  Query extends TObject = NoFields,
  Body extends TSchema = NoFields,
  Other extends TSchema = never,
  const By extends Who = Who,
  const Machine extends MachineRule = never,
  Made = never,
>(
  contract: Contract<Params, Query, Body, Ok, Reason, Other, By> &
    NamesAccess<By> &
    NamesMachine<By> & { readonly machine?: Machine },
  steps: Steps<
    Static<Params>,
    Static<Query>,
    Static<Body>,
    Success<Ok, Other>,
    Reason,
    CallerOf<By, Machine>,
    Made
  >,
): Shaped<Params, Query, Body, Success<Ok, Other>, Reason> =>
  (typeof steps === 'function'
    ? { contract: completed(contract), handle: steps }
    : { contract: completed(contract), ...steps }) as unknown as Endpoint;

/** A page: a view over endpoints of its service, which it calls. It has no rights of its own. */
export const pageEndpoint = <
  Ok extends TSchema,
  const Reason extends string = never,
  Params extends TObject = NoFields,
  Query extends TObject = NoFields,
  Body extends TSchema = NoFields,
  Other extends TSchema = never,
>(
  contract: Contract<Params, Query, Body, Ok, Reason, Other, 'anyone'> & {
    readonly audience: 'page';
  },
  show: (
    request: Request<Static<Params>, Static<Query>, Static<Body>, undefined>,
    plays: Plays,
  ) => HandlerAnswer<Success<Ok, Other>, Reason>,
): Endpoint =>
  ({ contract: completed(contract), handle: withoutPlays, show }) as unknown as Endpoint;

const withoutPlays = (): never => {
  throw new Error('a page is shown, not handled');
};
