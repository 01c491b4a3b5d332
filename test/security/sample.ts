/** One valid request to an endpoint, who may make it, and how it is put on the wire. */
import type { Endpoint } from '@cardea/http';
import type { Call, RestAnswer } from '@cardea/testing';
import type { CallerName, Knocker } from './callers.ts';
import type { Fortress } from './fortress.ts';

export type Ask = {
  readonly params?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly body?: object;
  readonly headers?: { readonly [name: string]: string };
};

export type Sample = {
  /** Whose request succeeds; of tenant A, or nobody. */
  readonly by: CallerName;
  /** Makes what the request is about first, so that it succeeds once more each time. */
  readonly ask: (world: Fortress) => Ask | Promise<Ask>;
  /** Of the success, where it is not the contract's own. */
  readonly status?: number;
  /** To whoever asks with an id that nobody has; 404 unless stated. */
  readonly unknown?: number;
  /** Callers whom the door lets in and the handler answers otherwise. */
  readonly but?: { readonly [caller in CallerName]?: number };
};

export type Samples = { readonly [operation: string]: Sample };

type Sending = {
  readonly as?: Pick<Knocker, 'credentials'> | undefined;
  readonly tenant?: string | undefined;
};

/** The answer was held against the contract when this resolves. */
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
