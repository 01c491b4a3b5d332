/** Finds the endpoint of a request: the one whose path matches with the most literal segments. */
import type { TSchema } from 'typebox';

/** The fields of an endpoint that the driver needs. Every `Endpoint` of `@cardea/http` has them. */
export type EndpointValue = {
  readonly contract: {
    readonly name: string;
    readonly method: string;
    readonly path: string;
    readonly ok: TSchema;
    readonly response?: {
      readonly status?: number;
      readonly others?: { readonly [status: number]: TSchema };
      readonly mediaType?: string;
      readonly errors?: 'oauth' | 'upper_case';
      readonly codes?: { readonly [code: string]: string };
    };
    readonly audience?: 'internal' | 'loopback' | 'page';
    readonly refusals: { readonly [reason: string]: number };
    readonly notTaken?: {
      readonly [kind in 'user' | 'agent' | 'api_key']?: {
        readonly status: number;
        readonly code: string;
      };
    };
  };
};

export function findEndpoint(
  endpoints: readonly EndpointValue[],
  method: string,
  pathname: string,
): EndpointValue | undefined {
  const given = pathname.split('/');
  return endpoints
    .filter(
      ({ contract }) =>
        contract.method === method.toLowerCase() && matches(contract.path.split('/'), given),
    )
    .toSorted((a, b) => variables(a) - variables(b))[0];
}

const isVariable = (part: string): boolean => part.includes('{');

const variables = ({ contract }: EndpointValue): number =>
  contract.path.split('/').filter(isVariable).length;

const matches = (template: readonly string[], given: readonly string[]): boolean =>
  template.length === given.length &&
  template.every((part, index) => (isVariable(part) ? given[index] !== '' : part === given[index]));
