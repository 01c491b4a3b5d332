/**
 * The request pipeline: authentication, body, handler, read side, response. The order of the checks is a
 * promise (`docs/architecture.md`, Order of the checks): what needs no body is decided before the body is
 * read.
 */

import { metrics, storedId } from '@cardea/runtime';
import type { Outgoing } from '../context/headers.ts';
import type { HttpContext } from '../context/http-context.ts';
import type { Answer, HandlerAnswer, Request } from '../contract/endpoint.ts';
import { recordDenial } from '../record-denial.ts';
import { isRecorded } from '../refusals/denials.ts';
import {
  faultsByCode,
  inEndpointCodes,
  invalid,
  messageOf,
  type Refusal,
  reasonOf,
  refusalOfThrow,
} from '../refusals/refusal.ts';
import { authorize, confirm } from './authorize.ts';
import { awaitRead, awaitWrite, positionSeen, printToken } from './consistency.ts';
import { headerFaults, identified, isAppId, readInput, readStrings } from './input.ts';
import type { Route } from './route.ts';

type RefusedRequest = {
  readonly refusal: Refusal;
  readonly target?: { readonly type: string; readonly id: string | null } | undefined;
  readonly wrote?: bigint | undefined;
  /**
   * True for the pipeline's own codes, which the contract may spell differently; a handler's codes are used
   * as they are.
   */
  readonly byPipeline: boolean;
};

type AnyRequest = Request<unknown, unknown, unknown>;
/** The argument of the handler while the checks fill it in. */
type Draft = { -readonly [Field in keyof AnyRequest]: AnyRequest[Field] };

/**
 * A request that is ready for its handler, with what the endpoint's own check returned before the body was
 * read.
 */
type ReadyRequest = { readonly request: AnyRequest; readonly authorized: unknown };

/** Never throws; at its end the response was sent, or the client has disconnected. */
export async function answerRequest(
  route: Route,
  http: HttpContext,
  params: { readonly [name: string]: string },
): Promise<void> {
  try {
    const draft = draftOf(route, http);
    const ready = await runChecks(route, http, { params, draft });
    if (ready === 'gone') return;
    if ('refusal' in ready) {
      return await refuse(route, http, { refused: ready, request: draft });
    }
    const { request } = ready;
    const answering = handled(route, ready);
    const answer = answering instanceof Promise ? await answering : answering;
    if ('ok' in answer) {
      if (answer.wrote !== undefined) await awaitWrite(route, http, answer.wrote);
      succeed(route, http, answer);
    } else if ('raw' in answer) await writeRaw(route, http, { write: answer.raw, request });
    else {
      const refused = 'refused' in answer ? refusedBy(route, answer) : answer;
      await refuse(route, http, { refused, request });
    }
  } catch (error) {
    answerThrow(route, http, error);
  }
}

function draftOf(route: Route, http: HttpContext): Draft {
  const { headers } = http.request;
  const appId = headers['x-service-app-id'];
  return {
    params: undefined,
    query: undefined,
    body: undefined,
    principal: undefined,
    tenantId: '',
    appId: typeof appId === 'string' && isAppId(appId) ? storedId(appId) : undefined,
    ip: http.ip,
    userAgent: headers['user-agent'] ?? '',
    requestId: http.requestId,
    traceparent: http.traceparent,
    commandId: http.parts.ids.next(),
    idempotency: undefined,
    asksForRole: route.asksForRole,
    operation: route.contract.name,
    isHead: http.request.method === 'HEAD',
    headers: headers as { readonly [name: string]: string | undefined },
    positionSeen: undefined,
    signal: http.signal,
    draining: http.parts.draining,
  };
}

const byPipeline = (refusal: Refusal): RefusedRequest => ({ refusal, byPipeline: true });

/**
 * All checks from authentication to 400: returns the request for the handler, or the first refusal. What is
 * known at once is not awaited.
 */
async function runChecks(
  route: Route,
  http: HttpContext,
  of: { readonly params: { readonly [name: string]: string }; readonly draft: Draft },
): Promise<ReadyRequest | RefusedRequest | 'gone'> {
  const { draft } = of;
  const authorizing = authorize(http, route);
  const caller = authorizing instanceof Promise ? await authorizing : authorizing;
  http.principal = caller.principal;
  if ('refusal' in caller) return byPipeline(caller.refusal);
  draft.principal = caller.principal;
  draft.tenantId = caller.tenantId;
  const strings = readStrings(route, http, of.params);
  if (!('faults' in strings)) {
    draft.params = strings.params;
    draft.query = strings.query;
  }
  let authorized: unknown;
  if (route.endpoint.authorize !== undefined) {
    if ('faults' in strings) return byPipeline(invalid(...strings.faults));
    const found = await route.endpoint.authorize({ ...draft, body: undefined });
    if ('refused' in found) return refusedBy(route, found);
    authorized = found.authorized;
  }
  const reading = readInput(route, http);
  const body = reading instanceof Promise ? await reading : reading;
  if (body === 'gone') return body;
  if ('refusal' in body) return byPipeline(body.refusal);
  draft.body = body.value;
  const seen = positionSeen(route, http);
  if (seen !== undefined) {
    const waited = await awaitRead(route, http, seen);
    if (typeof waited !== 'bigint') return byPipeline(waited);
    draft.positionSeen = waited;
  }
  if ('faults' in strings) return byPipeline(invalid(...strings.faults));
  const faults = headerFaults(route, http);
  if (faults.length > 0) return byPipeline(invalid(...faults));
  const request = identified(route, draft);
  return { request: request instanceof Promise ? await request : request, authorized };
}

/** Users and machines are confirmed before a change and again before a new secret is shown: either may have ended meanwhile. */
function handled(
  route: Route,
  ready: ReadyRequest,
): HandlerAnswer | Promise<Answer<unknown, string> | RefusedRequest> {
  const { request, authorized } = ready;
  const { endpoint } = route;
  if (isConfirmed(route, request)) return handledConfirmed(route, ready);
  return endpoint.readAhead === undefined
    ? endpoint.handle(request, authorized)
    : endpoint.readAhead(request).then((read) => endpoint.handle(request, read));
}

function isConfirmed(route: Route, { principal }: AnyRequest): boolean {
  switch (principal?.kind) {
    case 'user':
      return route.confirmsUsers;
    case 'client':
      return route.confirmsClients;
    default:
      return false;
  }
}

async function handledConfirmed(
  route: Route,
  { request, authorized }: ReadyRequest,
): Promise<Answer<unknown, string> | RefusedRequest> {
  const [before, made] = await Promise.all([
    confirmed(route, request),
    route.endpoint.readAhead?.(request) ?? authorized,
  ]);
  if ('refusal' in before) return before;
  const answer = await route.endpoint.handle(before, made);
  if (route.contract.showsSecret !== true || !('ok' in answer)) return answer;
  const after = await confirmed(route, request);
  return 'refusal' in after ? after : answer;
}

async function confirmed(
  { contract, group }: Route,
  request: AnyRequest,
): Promise<AnyRequest | RefusedRequest> {
  if (request.principal === undefined) return request;
  const now = await confirm(contract, request.principal, group.authenticator);
  return 'refusal' in now ? byPipeline(now.refusal) : { ...request, ...now };
}

function succeed(
  route: Route,
  http: HttpContext,
  answer: Extract<Answer<unknown, string>, { readonly ok: unknown }>,
): void {
  http.ofTenant = answer.ofTenant;
  const headers: Outgoing = http.headers();
  if (answer.wrote !== undefined) {
    headers['X-Service-Consistency'] = printToken(route.group.service, answer.wrote);
  }
  Object.assign(headers, answer.headers);
  http.answer(answer.status ?? route.contract.status ?? 200, answer.ok, headers);
}

function refusedBy(
  { contract }: Route,
  answer: Extract<Answer<never, string>, { readonly refused: string }>,
): RefusedRequest {
  const { refused: code, headers, target, wrote } = answer;
  const status = contract.refusals[code];
  if (status === undefined) throw new Error('a handler refused with a code its contract lacks');
  const message = answer.message ?? messageOf(code);
  const details = answer.details ?? (status === 400 ? faultsByCode(code, contract) : undefined);
  return { refusal: { status, code, message, details, headers }, target, wrote, byPipeline: false };
}

async function refuse(
  route: Route,
  http: HttpContext,
  { refused, request: asked }: { readonly refused: RefusedRequest; readonly request: AnyRequest },
): Promise<void> {
  const { contract, group } = route;
  const refusal = refused.byPipeline ? inEndpointCodes(refused.refusal, contract) : refused.refusal;
  if (refusal.status === 429) metrics.rateLimited.inc({ rule: `${contract.name}/${refusal.code}` });
  const { principal } = http;
  if (principal !== undefined && isRecorded(contract, refusal)) {
    const { code: reason, status } = refusal;
    const { name: operation, area } = contract;
    const denial = { principal, area, operation, reason, status };
    await recordDenial(route, http, { denial, target: refused.target, request: asked });
  }
  const token =
    refused.wrote === undefined
      ? {}
      : { 'X-Service-Consistency': printToken(group.service, refused.wrote) };
  http.refuse(refusal, token);
}

async function writeRaw(
  route: Route,
  http: HttpContext,
  raw: {
    readonly write: Extract<Answer<never, string>, { readonly raw: unknown }>['raw'];
    readonly request: AnyRequest;
  },
): Promise<void> {
  const { request, response } = http;
  const setHeaders = () => {
    for (const [name, value] of Object.entries(http.headers())) response.setHeader(name, value);
  };
  setHeaders();
  const ofTenant = (tenantId: string | undefined) => {
    http.ofTenant = tenantId;
    response.removeHeader('Access-Control-Allow-Origin');
    response.removeHeader('Access-Control-Expose-Headers');
    setHeaders();
  };
  await raw.write(response, request, ofTenant, (denial) =>
    recordDenial(route, http, { denial, request: raw.request }),
  );
}

/** Turns a throw into a response; the log gets the error's name, and its stack frames if nobody expects it. */
function answerThrow({ contract }: Route, http: HttpContext, error: unknown): void {
  // A failure after the client has disconnected needs no response.
  if (http.signal.aborted && http.response.destroyed) return;
  const refusal = refusalOfThrow(error);
  const { logger } = http.parts;
  const fields = { request_id: http.requestId, operation: contract.name };
  if (refusal.status === 500) logger.error({ ...fields, err: error }, 'a request failed');
  else {
    const { code } = refusal;
    http.parts.refusedWrites?.heard(error);
    logger.warn({ ...fields, code, reason: reasonOf(error) }, 'a request could not be served');
  }
  if (http.response.headersSent) http.response.destroy();
  else http.refuse(inEndpointCodes(refusal, contract));
}
