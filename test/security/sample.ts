/** One valid request to an endpoint, who may make it, and how it is sent. */
import type { Endpoint } from '@cardea/http';
import type { Call, RestAnswer } from '@cardea/testing';
import type { CallerName, TestCaller } from './callers.ts';
import type { Fortress } from './fortress.ts';

export type Ask = {
  readonly params?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly body?: object;
  readonly headers?: { readonly [name: string]: string };
};

export type Sample = {
  /** The caller whose request succeeds; of tenant A, or nobody. */
  readonly by: CallerName;
  /** First creates the object of the request, so that the request succeeds each time. */
  readonly ask: (world: Fortress) => Ask | Promise<Ask>;
  /** The status of the success, if it differs from the contract's. */
  readonly status?: number;
  /** Status for an id that nobody has; 404 unless stated. */
  readonly unknown?: number;
  /** Callers whom the pipeline accepts and the handler refuses, with the status. */
  readonly but?: { readonly [caller in CallerName]?: number };
};

export type Samples = { readonly [operation: string]: Sample };

type Sending = {
  readonly as?: Pick<TestCaller, 'credentials'> | undefined;
  readonly tenant?: string | undefined;
};

/** When this resolves, the answer was checked against the contract. */
export function send(
  { rest }: Pick<Fortress, 'rest'>,
  endpoint: Endpoint,
  ask: Ask,
  { as, tenant }: Sending,
): Promise<RestAnswer> {
  return rest.call(endpoint.contract.method.toUpperCase(), pathOf(endpoint, ask), {
    ...callOf(ask),
    bearer: as?.credentials.bearer,
    tenant,
    headers: { ...ask.headers, ...as?.credentials.headers },
  });
}

const callOf = ({ query, body }: Ask): Call => ({
  ...(query === undefined ? {} : { query }),
  ...(body === undefined ? {} : { body }),
});

export const pathOf = ({ contract }: Endpoint, { params = {} }: Ask): string =>
  contract.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`the sample of ${contract.name} lacks ${name}`);
    return encodeURIComponent(value);
  });

export const titleOf = ({ contract }: Pick<Endpoint, 'contract'>): string =>
  `${contract.method.toUpperCase()} ${contract.path}`;
