/**
 * An endpoint prepared for serving: its validators compiled, its body rule known, its service's
 * dependencies attached.
 */
import type { Authenticator } from '@cardea/auth';
import type { ServiceName } from '@cardea/contracts';
import { originRuleOf } from '../context/headers.ts';
import {
  type ApplicationScope,
  applicationScopeOf,
  asksForRole,
  confirmsClients,
  confirmsUsers,
  type StepUp,
  stepUpOf,
  takesUsers,
} from '../contract/caller.ts';
import { type Contract, type OriginRule, takesKey } from '../contract/contract.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { BODY_MAX_BYTES, type BodyRule } from '../input/body.ts';
import type { Identify } from '../input/idempotency.ts';
import { JSON_KEYS_MAX } from '../input/json.ts';
import {
  bodyValidator,
  stringsValidator,
  type Validation,
  type Validator,
} from '../input/validation.ts';
import type { Denials } from '../refusals/denials.ts';
import type { Fault } from '../refusals/refusal.ts';

/**
 * The functions of the read side that the request pipeline needs; `Positions` of read-models implements them.
 */
export interface PositionsPassed {
  /** Resolves with true when all named projections have passed `position` within `timeoutMs`. */
  reached(projections: readonly string[], position: bigint, timeoutMs: number): Promise<boolean>;
}

/** The functions that the endpoint's service provides. */
export type Group = {
  readonly service: ServiceName;
  readonly authenticator: Authenticator;
  readonly positions: PositionsPassed | undefined;
  readonly denials: Denials | undefined;
  readonly identify: Identify;
  /** All routes of the service, which its pages call. */
  readonly routes: ReadonlyMap<Endpoint, Route>;
};

/** A prepared endpoint: everything that is the same for all requests. */
export type Route = {
  readonly endpoint: Endpoint;
  readonly contract: Contract;
  readonly group: Group;
  readonly bodyRule: BodyRule | undefined;
  /**
   * The input of a request without path parameters and without a query, which is always the same. Set at the first such
   * request, because validators are compiled on first use.
   */
  withoutStrings: ReadStrings | undefined;
  readonly checkParams: Validator;
  readonly checkQuery: Validator;
  readonly checkBody: Validator;
  /** Whether the endpoint honours `Idempotency-Key`. */
  readonly takesKey: boolean;
  readonly takesUsers: boolean;
  readonly applicationScope: ApplicationScope;
  readonly stepUp: StepUp;
  /** Responses of authenticated endpoints depend on the caller. */
  readonly isPrivate: boolean;
  readonly origins: OriginRule;
  readonly asksForRole: boolean;
  readonly confirmsUsers: boolean;
  readonly confirmsClients: boolean;
};

export type ReadStrings =
  | { readonly params: unknown; readonly query: unknown }
  | { readonly faults: readonly Fault[] };

export function withQuery(params: unknown, checked: Validation): ReadStrings {
  if (!('faults' in checked)) return { params, query: checked.value };
  const faults = checked.faults.map(({ field, rule }) => ({
    field: field === 'body' ? 'query' : field,
    rule,
  }));
  return { faults };
}

/** For input that is shared by all requests. */
export function frozen(strings: ReadStrings): ReadStrings {
  if (!('faults' in strings)) {
    Object.freeze(strings.params);
    Object.freeze(strings.query);
  }
  return strings;
}

const NOTHING = { type: 'object', properties: {}, additionalProperties: false } as never;
const noStrings = stringsValidator(NOTHING);
const noBody = bodyValidator(NOTHING);

export function routeOf(endpoint: Endpoint, group: Group): Route {
  const { contract } = endpoint;
  const { input = {} } = contract;
  const checkQuery = contract.query === undefined ? noStrings : stringsValidator(contract.query);
  return {
    endpoint,
    contract,
    group,
    bodyRule:
      contract.method === 'get' || input.passedOn === true
        ? undefined
        : {
            limitBytes: input.limitBytes ?? BODY_MAX_BYTES,
            keysMax: input.keysMax ?? JSON_KEYS_MAX,
            typeOptional: input.isOptional === true || contract.body === undefined,
            takesForm: input.takesForm === true,
          },
    withoutStrings: undefined,
    checkParams: contract.params === undefined ? noStrings : stringsValidator(contract.params),
    checkQuery,
    checkBody: contract.body === undefined ? noBody : bodyValidator(contract.body),
    takesKey: takesKey(contract),
    takesUsers: takesUsers(contract),
    applicationScope: applicationScopeOf(contract),
    stepUp: stepUpOf(contract),
    isPrivate: contract.response?.isSecret === true || contract.who !== 'anyone',
    origins: originRuleOf(contract),
    asksForRole: asksForRole(contract),
    confirmsUsers: confirmsUsers(contract),
    confirmsClients: confirmsClients(contract),
  };
}
