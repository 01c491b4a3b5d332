/**
 * An endpoint prepared for serving: its validators compiled, its body rule known, its service's
 * dependencies attached.
 */
import type { Authenticator } from '@cardea/auth';
import type { ServiceName } from '@cardea/contracts';
import { asksForRole, writesByRole } from './authorize.ts';
import { BODY_MAX_BYTES, type BodyRule } from './body.ts';
import type { Denials } from './denials.ts';
import type { Contract, Endpoint } from './endpoint.ts';
import type { Identify } from './idempotency.ts';
import { bodyValidator, stringsValidator, type Validator } from './validation.ts';

/** What the request pipeline needs of the read side; `Positions` of read-models implements it. */
export interface PositionsPassed {
  /** True when all named projections have passed `position` within `timeoutMs`. */
  reached(projections: readonly string[], position: bigint, timeoutMs: number): Promise<boolean>;
}

/** What the endpoint's service provides. */
export type Group = {
  readonly service: ServiceName;
  readonly authenticator: Authenticator;
  readonly positions: PositionsPassed | undefined;
  readonly denials: Denials | undefined;
  readonly identify: Identify;
};

/** A prepared endpoint: everything that does not change from request to request. */
export type Route = {
  readonly endpoint: Endpoint;
  readonly contract: Contract;
  readonly group: Group;
  readonly bodyRule: BodyRule | undefined;
  /** False where a request has neither parameters in its path nor a query. */
  readonly takesStrings: boolean;
  readonly checkParams: Validator;
  readonly checkQuery: Validator;
  readonly checkBody: Validator;
  readonly asksForRole: boolean;
  readonly writesByRole: boolean;
};

const NOTHING = { type: 'object', properties: {}, additionalProperties: false } as never;
const noStrings = stringsValidator(NOTHING);
const noBody = bodyValidator(NOTHING);

export function routeOf(endpoint: Endpoint, group: Group): Route {
  const { contract } = endpoint;
  return {
    endpoint,
    contract,
    group,
    bodyRule:
      contract.method === 'get' || contract.passedOn === true
        ? undefined
        : {
            limitBytes: contract.bodyLimitBytes ?? BODY_MAX_BYTES,
            typeOptional: contract.bodyOptional === true || contract.body === undefined,
            takesForm: contract.takesForm === true,
          },
    takesStrings: contract.params !== undefined || contract.query !== undefined,
    checkParams: contract.params === undefined ? noStrings : stringsValidator(contract.params),
    checkQuery: contract.query === undefined ? noStrings : stringsValidator(contract.query),
    checkBody: contract.body === undefined ? noBody : bodyValidator(contract.body),
    asksForRole: asksForRole(contract),
    writesByRole: writesByRole(contract),
  };
}
