/** The contract of an endpoint. Its validation, OpenAPI operation, route and matrix tests are derived from it. */
import type { TObject, TSchema } from 'typebox';
import type { Access, MachineRule, Who } from './caller.ts';
import type { Tag } from './tags.ts';

/** Who may read the responses of a path: pages of every origin, of allowed origins, or of its own origin only. */
export type OriginRule = 'every' | 'allowed' | 'own';

export type TenantRule =
  /** `X-Service-Tenant` is required. For `anyone` endpoints it names the tenant. */
  | 'required'
  /** The token names the tenant. The header may repeat it. */
  | 'optional'
  | 'none';

export type Repeat =
  /** A repeat has no further effect. */
  | 'safe'
  /** A repeat has a second effect or is refused. */
  | 'never'
  /** A repeat with the same `Idempotency-Key` is the same command. */
  | 'by_key'
  /**
   * Like `by_key`, but the handler calls `identify` itself, after the rate limits of callers without a credential,
   * because the first use of a key is stored.
   */
  | 'by_key_in_handler'
  /** GET has an effect, as in links that sign somebody in. HEAD is refused with 405. */
  | 'get_only';

export type Consistency = {
  /** Projections that must have passed the written position before the response is sent (2 s at most). */
  readonly waitsFor?: readonly string[];
  /** The projections whose reads wait for the position in `X-Service-Consistency`. */
  readonly reads?: readonly string[];
  /** The handler itself reads `X-Service-Consistency`, and sets it on the response. */
  readonly byHandler?: true;
};

export type InputRule = {
  /** A missing body, an empty body and `{}` are equal, with or without a content type. */
  readonly isOptional?: true;
  /** The body may also be a form (URL-encoded). A parameter may occur once. */
  readonly takesForm?: true;
  /** The largest body in bytes; 256 KiB by default. */
  readonly limitBytes?: number;
  /** The most members of all objects in the body; 1,000 by default. */
  readonly keysMax?: number;
  /** Query and body are not read here, but by the library to which the handler passes the request. */
  readonly passedOn?: true;
};

export type ResponseRule<Other extends TSchema = TSchema> = {
  /** The status of `ok`; 200 by default. */
  readonly status?: number;
  /** Successes with another status and body. */
  readonly others?: { readonly [status: number]: Other };
  /** Set if the response is not JSON. The handler then returns a `raw` body of this media type. */
  readonly mediaType?: string;
  /** Clients that send a form or accept `text/html` get a page, also for a refusal. */
  readonly orPage?: true;
  /**
   * `oauth`: errors have the body of RFC 6749, `{error, error_description}`. Set for everything under `/oauth2`.
   * `upper_case`: the codes of the request pipeline are in capitals (vending).
   */
  readonly errors?: 'oauth' | 'upper_case';
  /** Other codes for errors of the request pipeline, e.g. `{unauthenticated: 'INVALID_AGENT_KEY'}`. */
  readonly codes?: { readonly [code: string]: string };
  /**
   * The response may contain a secret. It therefore has `Cache-Control: no-store`, which endpoints that authenticate
   * always send. If the endpoint requires a role, the role is checked again just before the response is sent.
   */
  readonly isSecret?: true;
  /** The origins whose pages may read it. By default allowed ones under `/api/v1`, elsewhere its own. */
  readonly origins?: OriginRule;
};

export type Audience =
  /** Other processes of the deployment, and this one: `/internal/*`. */
  | 'internal'
  /**
   * The machine itself: `/dev/*`. Answered with 404 unless the server is bound to loopback and the request is directly
   * for it. `serve` has an option to share such endpoints.
   */
  | 'loopback'
  /** People with a browser. Unlike other audiences, its endpoints are routed by the gateway. */
  | 'page';

export type Contract<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Ok extends TSchema = TSchema,
  Reason extends string = string,
  Other extends TSchema = TSchema,
  By extends Who = Who,
> = {
  /** A unique snake_case name: operation id, audit operation, metric label. */
  readonly name: string;
  readonly summary: string;
  /**
   * What the operation does, costs and causes, for the OpenAPI document. The document adds from other fields who may
   * call it and what each refusal means.
   */
  readonly description?: string;
  readonly tag: Tag;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Parameters are written as `{name}`: `/api/v1/ciba/requests/{id}/approve`. */
  readonly path: string;
  /** Set if the endpoint is not for every client. The gateway and the OpenAPI document then omit it. */
  readonly audience?: Audience;
  readonly who: By;
  /** The requirements for a caller of an accepted kind. Every endpoint that accepts users states them. */
  readonly access?: Access;
  /** The scope that a machine needs. Every endpoint that accepts a role or an API key states it. */
  readonly machine?: MachineRule;
  /**
   * The response to authenticated callers of a kind that is not accepted, instead of 403 `forbidden`. Agents that send
   * a key get `agent_key`, others `agent`. By default an endpoint for users alone answers agents with 401
   * `user_session_required`.
   */
  readonly notTaken?: {
    readonly [kind in 'user' | 'agent' | 'agent_key' | 'api_key' | 'client']?: {
      readonly status: number;
      readonly code: string;
    };
  };
  /** `required` by default. */
  readonly tenant?: TenantRule;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** How query and body are read, if not as JSON within the usual limits. */
  readonly input?: InputRule;
  /** The schema of the success body. Further successes are in `response`. */
  readonly ok: Ok;
  /** Differences from the default response: status 200, JSON, and the errors of this API. */
  readonly response?: ResponseRule<Other>;
  /** Every refusal code of the handler, with its status. */
  readonly refusals: Readonly<Record<Reason, number>>;
  /** Codes of refusals that are not recorded as `action.denied`, because the handler records events of its own. */
  readonly recordsItsRefusals?: readonly string[];
  /** How a client reads its own writes. */
  readonly consistency?: Consistency;
  /** The effect of a repeated request. Every endpoint but GET states it. */
  readonly repeat?: Repeat;
};

/** A contract with its defaults filled in. */
export type CompleteContract = Contract & { readonly tenant: TenantRule };

const IN_PERSON = { agent: { status: 401, code: 'user_session_required' } } as const;

export function completed(contract: Contract): CompleteContract {
  const { who, tenant = 'required' } = contract;
  const isForUsersAlone = who !== 'anyone' && who.every((caller) => caller === 'user');
  const notTaken = contract.notTaken ?? (isForUsersAlone ? IN_PERSON : undefined);
  return { ...contract, tenant, ...(notTaken === undefined ? {} : { notTaken }) };
}

/**
 * Tells a client that got no response whether it may send the request again, only with its `Idempotency-Key`,
 * or not at all.
 */
export function retryOf(contract: Contract): 'safe' | 'key' | 'never' {
  if (contract.method === 'get') return 'safe';
  if (takesKey(contract)) return 'key';
  return contract.repeat === 'safe' ? 'safe' : 'never';
}

/** Whether `Idempotency-Key` is honoured: see `commandId` of {@link import('./endpoint.ts').Request}. */
export const takesKey = ({ repeat }: Pick<Contract, 'repeat'>): boolean =>
  repeat === 'by_key' || repeat === 'by_key_in_handler';

/** HEAD is answered wherever GET is, unless GET has effects. */
export const answersHead = ({ method, repeat }: Contract): boolean =>
  method === 'get' && repeat !== 'get_only';

/** Whether the endpoint is left out of the OpenAPI document and the gateway. */
export const isInternal = ({ audience }: Pick<Contract, 'audience'>): boolean =>
  audience === 'internal' || audience === 'loopback';
