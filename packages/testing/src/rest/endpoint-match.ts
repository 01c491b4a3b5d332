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
  return candidates(endpoints, `${method.toLowerCase()} ${given.length}`).find(({ template }) =>
    matches(template, given),
  )?.endpoint;
}

type Candidate = { readonly endpoint: EndpointValue; readonly template: readonly string[] };
type Candidates = ReadonlyMap<string, readonly Candidate[]>;

/** The endpoints by method and number of segments, for each list of endpoints. Tests search it for each request. */
const INDEXES = new WeakMap<readonly EndpointValue[], Candidates>();

function candidates(endpoints: readonly EndpointValue[], key: string): readonly Candidate[] {
  const known = INDEXES.get(endpoints);
  if (known !== undefined) return known.get(key) ?? [];
  const all = endpoints
    .map((endpoint) => ({ endpoint, template: endpoint.contract.path.split('/') }))
    .toSorted((a, b) => variables(a) - variables(b));
  const index = Map.groupBy(
    all,
    ({ endpoint, template }) => `${endpoint.contract.method} ${template.length}`,
  );
  INDEXES.set(endpoints, index);
  return index.get(key) ?? [];
}

const isVariable = (part: string): boolean => part.includes('{');

const variables = ({ template }: Candidate): number => template.filter(isVariable).length;

const matches = (template: readonly string[], given: readonly string[]): boolean =>
  template.length === given.length &&
  template.every((part, index) => (isVariable(part) ? given[index] !== '' : part === given[index]));
