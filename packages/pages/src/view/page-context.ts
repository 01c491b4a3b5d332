/** The context of a page's two endpoints, and how they call the endpoints that the page shows. */
import { type Endpoint, type PlayedOutcome, type Plays, takesKey } from '@cardea/http';
import type { Frame, ShownTenant } from '../page.ts';
import { frameOf } from '../page.ts';
import type { Visit, VisitDependencies, visits } from '../session/visits.ts';
import type { Catalogue } from '../texts/texts.ts';
import type { PageOf, Read, Strings } from './page-of.ts';
import type { Proof, ProofKind } from './proof-view.ts';

/** The internal calls to identity that confirm a sign-in. */
export type Proofs = {
  readonly proofs: (request: {
    readonly token: string;
    readonly withChallenge: boolean;
  }) => Promise<{ readonly ways: readonly ProofKind[]; readonly challenge: object | null }>;
  readonly stepUp: (request: {
    readonly token: string;
    readonly ip: string;
    readonly userAgent: string;
    readonly requestId: string;
    readonly proof: Proof;
  }) => Promise<
    | { readonly token: string }
    | { readonly refused: string; readonly status: number; readonly retryAfter: string | null }
  >;
};

export type PageDependencies<Key extends string> = VisitDependencies &
  Proofs & {
    readonly texts: Catalogue<Key>;
    /** Charges a form. Returns the seconds until the next one is allowed, if too many came from the address. */
    readonly admitForm: (ip: string) => Promise<number | undefined>;
    /** Reads the appearance of a tenant's pages. */
    readonly tenant: (tenantId: string) => Promise<ShownTenant>;
  };

export type PageContext<Key extends string, Data> = PageDependencies<Key> & {
  readonly of: PageOf<Key, Data>;
  readonly visits: ReturnType<typeof visits>;
};

export type PageRequest = {
  readonly headers: { readonly [name: string]: string | undefined };
  readonly params: Strings;
  readonly query: Strings;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
};
export type Call = { readonly request: PageRequest; readonly plays: Plays };
export type Refusal = Extract<PlayedOutcome, { readonly refusal: unknown }>['refusal'];

export const pathOf = (path: string, params: Strings): string =>
  path.replaceAll(/\{(\w+)\}/g, (_whole, name) => encodeURIComponent(params[name] ?? ''));

export const frameFor = async <Key extends string, Data>(
  { tenant, texts }: PageContext<Key, Data>,
  { tenantId }: Visit,
  headers: PageRequest['headers'],
): Promise<Frame<Key>> => frameOf(texts, await tenant(tenantId), headers);

export const played = <Key extends string, Data>(
  context: PageContext<Key, Data>,
  { request, plays }: Call,
  of: {
    readonly visit: Visit;
    readonly endpoint: Endpoint;
    readonly params?: Strings;
    readonly query?: Strings;
    readonly body?: object;
    readonly key?: string | undefined;
  },
): Promise<PlayedOutcome> => {
  const { endpoint, visit, key } = of;
  const seen = context.visits.seen(request.headers);
  const isKeyed = key !== undefined && takesKey(endpoint.contract);
  return plays(endpoint, {
    credential: visit.cookie.token,
    params: of.params ?? request.params,
    query: of.query ?? {},
    body: of.body,
    headers: {
      'x-service-tenant': visit.tenantId,
      ...(seen === undefined ? {} : { 'x-service-consistency': seen }),
      ...(isKeyed ? { 'idempotency-key': key } : {}),
    },
  });
};

/** The query of a read: members from the address, and fixed ones. */
export const queryOf = (
  { url = {}, path = {}, preset = {}, person }: Read,
  { query, params }: Pick<PageRequest, 'query' | 'params'>,
  userId: string,
): Strings => ({
  ...preset,
  ...(person === undefined ? {} : { [person]: userId }),
  ...Object.fromEntries(Object.entries(path).map(([name, param]) => [name, params[param] ?? ''])),
  ...Object.fromEntries(
    Object.entries(url).flatMap(([name, shown]) => {
      const value = query[shown] ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  ),
});

export type Answers =
  | { readonly data: { readonly [name: string]: unknown } }
  | { readonly refusal: Refusal }
  | 'gone';

/** Reads everything that the page shows at once. The first refusal is the result. */
export async function answersOf<Key extends string, Data>(
  context: PageContext<Key, Data>,
  call: Call,
  visit: Visit,
): Promise<Answers> {
  const reads = Object.entries(context.of.reads);
  const outcomes = await Promise.all(
    reads.map(([, of]) => {
      const query = queryOf(of, call.request, visit.userId);
      const params = pathParams(of.endpoint, call.request.params);
      return played(context, call, { visit, endpoint: of.endpoint, query, params });
    }),
  );
  const data: { [name: string]: unknown } = {};
  for (const [at, outcome] of outcomes.entries()) {
    if (outcome === 'gone') return outcome;
    if ('refusal' in outcome) return outcome;
    data[reads[at]?.[0] ?? ''] = outcome.body;
  }
  return { data };
}

/** The page's parameters that the endpoint has, too. */
const pathParams = ({ contract }: Endpoint, params: Strings): Strings =>
  Object.fromEntries(
    Object.entries(params).filter(([name]) => contract.path.includes(`{${name}}`)),
  );
