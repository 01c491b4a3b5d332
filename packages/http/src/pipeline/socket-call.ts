/** A call that came as an HTTP request, and how its outcome is written to the socket. */
import type { Authenticator, PossessionProof, Principal } from '@cardea/auth';
import type { HttpContext } from '../context/http-context.ts';
import { readQuery } from '../input/query.ts';
import type { Call, Input } from './call.ts';
import { readInput } from './input.ts';
import { type Outcome, run, thrown } from './request-pipeline.ts';
import type { Begun } from './request-turns.ts';
import { frozen, type ReadStrings, type Route, withQuery } from './route.ts';

const CREDENTIAL = /^(Bearer|DPoP) +([A-Za-z0-9\-._~+/]+=*) *$/i;
const DPOP = 'dpop';
/** An access token is at most 8 KiB (`docs/design/tokens.md`, Checks of a token). */
const CREDENTIAL_MAX_CHARS = 8 * 1024;

type Params = { readonly [name: string]: string };

/** Never throws. When it resolves, the response was sent or the client has disconnected. */
export async function answerRequest(
  route: Route,
  http: HttpContext,
  params: Params,
): Promise<void> {
  http.route = route;
  const call = new SocketCall(http, params);
  const outcome = await run(route, call);
  if (outcome === 'gone') return;
  if ('refusal' in outcome) return http.refuse(outcome.refusal, outcome.headers);
  if ('raw' in outcome) return await writeRaw(route, http, { call, outcome });
  http.ofTenant = outcome.ofTenant;
  http.answer(outcome.status, outcome.body, Object.assign(http.headers(), outcome.headers));
}

class SocketCall implements Call {
  readonly #http: HttpContext;
  readonly #params: Params;
  readonly parts: Call['parts'];
  readonly headers: Call['headers'];
  readonly doubled: Call['doubled'];
  readonly isHead: boolean;
  readonly ip: string;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  readonly signal: AbortSignal;
  readonly socket: Call['socket'];
  /** The caller in whose turn the request begins. */
  #caller = '';

  constructor(http: HttpContext, params: Params) {
    const { request } = http;
    this.#http = http;
    this.#params = params;
    this.parts = http.parts;
    this.headers = request.headers;
    this.doubled = http.doubled;
    this.isHead = request.method === 'HEAD';
    this.ip = http.ip;
    this.requestId = http.requestId;
    this.traceparent = http.traceparent;
    this.signal = http.signal;
    this.socket = request.socket;
  }

  get principal(): Principal | undefined {
    return this.#http.principal;
  }

  set principal(found: Principal | undefined) {
    this.#http.principal = found;
  }

  authenticated(by: Authenticator): ReturnType<Authenticator['authenticate']> {
    const { request, ip } = this.#http;
    const [, scheme, credential] = CREDENTIAL.exec(request.headers.authorization ?? '') ?? [];
    if (scheme === undefined || credential === undefined) return undefined;
    if (credential.length > CREDENTIAL_MAX_CHARS) return undefined;
    const possession = scheme.toLowerCase() === DPOP ? possessionOf(this.#http) : undefined;
    return by.authenticate(credential, ip, this.socket, possession);
  }

  /** Requests without credentials wait per address, because they can name any tenant. */
  turn(tenantId: string): Promise<void> | undefined {
    this.#caller = this.#http.principal === undefined ? this.ip : tenantId;
    const begun = this.parts.turns?.begin(this.#caller);
    return begun === undefined ? undefined : this.#begins(begun);
  }

  async nextPart(): Promise<void> {
    const begun = this.parts.turns?.next(this.#caller, this.#http.endPart());
    if (begun !== undefined) await this.#begins(begun);
  }

  endTurn(): void {
    this.#http.endTurn();
  }

  #begins(begun: Begun | Promise<Begun>): Promise<void> | undefined {
    if (begun instanceof Promise) return begun.then((begins) => this.#http.begin(begins));
    this.#http.begin(begun);
    return undefined;
  }

  strings(route: Route): ReadStrings {
    const { search } = this.#http;
    if (route.contract.input?.passedOn === true) return { params: this.#params, query: {} };
    if (search === '' && route.contract.params === undefined) {
      route.withoutStrings ??= frozen(withQuery({}, route.checkQuery({})));
      return route.withoutStrings;
    }
    const query = readQuery(search);
    if ('fault' in query) return { faults: [query.fault] };
    const checkedParams = route.checkParams(this.#params);
    if ('faults' in checkedParams) return checkedParams;
    return withQuery(checkedParams.value, route.checkQuery(query.values));
  }

  input(route: Route): Input | Promise<Input> {
    return readInput(route, this.#http);
  }

  isGone(): boolean {
    return this.#http.signal.aborted && this.#http.response.destroyed;
  }
}

function possessionOf({ request, path, doubled }: HttpContext): PossessionProof {
  const { dpop } = request.headers;
  const proof = typeof dpop === 'string' && !doubled.has(DPOP) ? dpop : '';
  return { proof, method: request.method ?? '', path };
}

type RawOutcome = Extract<Outcome, { readonly raw: unknown }>;

/** The handler writes to the socket itself. An exception before the headers are sent becomes a refusal. */
async function writeRaw(
  route: Route,
  http: HttpContext,
  { call, outcome }: { readonly call: Call; readonly outcome: RawOutcome },
): Promise<void> {
  const { request, response } = http;
  const setHeaders = () => {
    for (const [name, value] of Object.entries(http.headers())) response.setHeader(name, value);
  };
  const ofTenant = (tenantId: string | undefined) => {
    http.ofTenant = tenantId;
    response.removeHeader('Access-Control-Allow-Origin');
    response.removeHeader('Access-Control-Expose-Headers');
    setHeaders();
  };
  try {
    setHeaders();
    await outcome.raw(response, request, ofTenant, outcome.recordDenial);
  } catch (error) {
    const failed = thrown(route, call, error);
    if (failed === 'gone') return;
    if (response.headersSent) response.destroy();
    else http.refuse(failed.refusal);
  }
}
