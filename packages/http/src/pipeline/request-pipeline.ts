/**
 * The request pipeline: authentication, body, handler, read side. The order of the checks is part of the contract
 * (`docs/architecture.md`, Order of the checks): checks that need no body come before the body is read.
 *
 * The result is a value, which the socket's route writes or a page shows.
 */

import { metrics, storedId } from '@cardea/runtime';
import type { Outgoing } from '../context/headers.ts';
import type {
  Answer,
  Endpoint,
  HandlerAnswer,
  Played,
  PlayedOutcome,
  Request,
} from '../contract/endpoint.ts';
import { areaOf } from '../contract/tags.ts';
import type { OwnDenial } from '../own-denial.ts';
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
import type { Call } from './call.ts';
import { awaitRead, awaitWrite, positionSeen, printToken } from './consistency.ts';
import { headerFaults, identified, isAppId } from './input.ts';
import { PageCall } from './page-call.ts';
import type { Route } from './route.ts';

type RefusedRequest = {
  readonly refusal: Refusal;
  readonly target?: { readonly type: string; readonly id: string | null } | undefined;
  readonly wrote?: bigint | undefined;
  /** True for the pipeline's own codes, which the contract may rename. A handler's codes are used unchanged. */
  readonly byPipeline: boolean;
};

type AnyRequest = Request<unknown, unknown, unknown>;
/** The argument of the handler while the checks fill it in. */
type Draft = { -readonly [Field in keyof AnyRequest]: AnyRequest[Field] };

/** A request that is ready for its handler, with the result of the endpoint's own check before the body. */
type ReadyRequest = { readonly request: AnyRequest; readonly authorized: unknown };

type Raw = Extract<Answer<never, string>, { readonly raw: unknown }>['raw'];

type Refusing = { readonly refusal: Refusal; readonly headers: Outgoing };

/** How a call ended. `gone`: the client disconnected before the response. */
export type Outcome =
  | {
      readonly status: number;
      readonly body: unknown;
      readonly headers: Outgoing;
      /** The tenant of the response, if neither credential nor header names it. */
      readonly ofTenant?: string | undefined;
    }
  | Refusing
  /** The handler writes the response itself. */
  | {
      readonly raw: Raw;
      readonly recordDenial: (denial: OwnDenial) => Promise<void>;
    }
  | 'gone';

/** Runs one call of an endpoint. Never throws. */
export async function run(route: Route, call: Call): Promise<Outcome> {
  try {
    const draft = draftOf(route, call);
    const ready = await runChecks(route, call, draft);
    if (ready === 'gone') return ready;
    if ('refusal' in ready) return await refused(route, call, { refused: ready, request: draft });
    const { request } = ready;
    const answering = handled(route, call, ready);
    const answer = answering instanceof Promise ? await answering : answering;
    if ('ok' in answer) {
      if (answer.wrote !== undefined) await awaitWrite(route, call, answer.wrote);
      return succeeded(route, answer);
    }
    if ('raw' in answer) {
      const record = (denial: OwnDenial) => recordDenial(route, call, { denial, request });
      return { raw: answer.raw, recordDenial: record };
    }
    const refusal = 'refused' in answer ? refusedBy(route, answer) : answer;
    return await refused(route, call, { refused: refusal, request });
  } catch (error) {
    return thrown(route, call, error);
  }
}

function draftOf(route: Route, call: Call): Draft {
  const { headers } = call;
  const { 'x-service-app-id': appId, 'user-agent': userAgent } = headers;
  return {
    params: undefined,
    query: undefined,
    body: undefined,
    principal: undefined,
    tenantId: '',
    appId: typeof appId === 'string' && isAppId(appId) ? storedId(appId) : undefined,
    ip: call.ip,
    userAgent: typeof userAgent === 'string' ? userAgent : '',
    requestId: call.requestId,
    traceparent: call.traceparent,
    commandId: call.parts.ids.next(),
    idempotency: undefined,
    asksForRole: route.asksForRole,
    operation: route.contract.name,
    isHead: call.isHead,
    headers: headers as { readonly [name: string]: string | undefined },
    positionSeen: undefined,
    signal: call.signal,
    draining: call.parts.draining,
    nextPart: () => call.nextPart(),
    endTurn: () => call.endTurn(),
  };
}

const byPipeline = (refusal: Refusal): RefusedRequest => ({ refusal, byPipeline: true });

/**
 * Runs all checks from authentication to 400. Returns the request for the handler, or the first refusal.
 * Results that are available at once are not awaited.
 */
async function runChecks(
  route: Route,
  call: Call,
  draft: Draft,
): Promise<ReadyRequest | RefusedRequest | 'gone'> {
  const authorizing = authorize(call, route);
  const caller = authorizing instanceof Promise ? await authorizing : authorizing;
  call.principal = caller.principal;
  if ('refusal' in caller) return byPipeline(caller.refusal);
  const turn = call.turn(caller.tenantId);
  if (turn !== undefined) {
    await turn;
    if (call.isGone()) return 'gone';
  }
  draft.principal = caller.principal;
  draft.tenantId = caller.tenantId;
  const strings = call.strings(route);
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
  const reading = call.input(route);
  const body = reading instanceof Promise ? await reading : reading;
  if (body === 'gone') return body;
  if ('refusal' in body) return byPipeline(body.refusal);
  draft.body = body.value;
  const seen = positionSeen(route, call);
  if (seen !== undefined) {
    const waited = await awaitRead(route, call, seen);
    if (typeof waited !== 'bigint') return byPipeline(waited);
    draft.positionSeen = waited;
  }
  if ('faults' in strings) return byPipeline(invalid(...strings.faults));
  const faults = headerFaults(route, call);
  if (faults.length > 0) return byPipeline(invalid(...faults));
  const request = route.takesKey ? identified(route, draft) : draft;
  return { request: request instanceof Promise ? await request : request, authorized };
}

/**
 * Users and machines are confirmed before a change and again before a new secret is shown, because their rights may
 * have ended in between.
 */
function handled(
  route: Route,
  call: Call,
  ready: ReadyRequest,
): HandlerAnswer | Promise<Answer<unknown, string> | RefusedRequest> {
  const { request, authorized } = ready;
  const { endpoint } = route;
  if (endpoint.show !== undefined) {
    return endpoint.show(request, (other, given) => played(route, call, { other, given }));
  }
  const mayConfirm = route.confirmsUsers || route.confirmsClients;
  if (mayConfirm && isConfirmed(route, request)) return handledConfirmed(route, ready);
  return endpoint.readAhead === undefined
    ? endpoint.handle(request, authorized)
    : endpoint.readAhead(request).then((read) => endpoint.handle(request, read));
}

/** A page's own call of another endpoint of its service. */
async function played(
  { group }: Route,
  call: Call,
  of: { readonly other: Endpoint; readonly given: Played },
): Promise<PlayedOutcome> {
  const route = group.routes.get(of.other);
  if (route === undefined) throw new Error('a page shows an endpoint that its service lacks');
  const outcome = await run(route, new PageCall(call, of.given));
  if (outcome !== 'gone' && 'raw' in outcome) throw new Error('a page cannot show this answer');
  return outcome;
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
  if (route.contract.response?.isSecret !== true || !('ok' in answer)) return answer;
  const after = await confirmed(route, request);
  return 'refusal' in after ? after : answer;
}

async function confirmed(route: Route, request: AnyRequest): Promise<AnyRequest | RefusedRequest> {
  if (request.principal === undefined) return request;
  const now = await confirm(route, request.principal);
  return 'refusal' in now ? byPipeline(now.refusal) : { ...request, ...now };
}

function succeeded(
  route: Route,
  answer: Extract<Answer<unknown, string>, { readonly ok: unknown }>,
): Outcome {
  const headers: Outgoing =
    answer.wrote === undefined
      ? {}
      : { 'X-Service-Consistency': printToken(route.group.service, answer.wrote) };
  Object.assign(headers, answer.headers);
  const status = answer.status ?? route.contract.response?.status ?? 200;
  return { status, body: answer.ok, headers, ofTenant: answer.ofTenant };
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

async function refused(
  route: Route,
  call: Call,
  of: { readonly refused: RefusedRequest; readonly request: AnyRequest },
): Promise<Outcome> {
  const { contract, group } = route;
  const { target, wrote } = of.refused;
  const refusal = of.refused.byPipeline
    ? inEndpointCodes(of.refused.refusal, contract)
    : of.refused.refusal;
  if (refusal.status === 429) metrics.rateLimited.inc({ rule: `${contract.name}/${refusal.code}` });
  const { principal } = call;
  if (principal !== undefined && isRecorded(contract, refusal)) {
    const { code: reason, status } = refusal;
    const area = areaOf(contract, group.service);
    const { name: operation } = contract;
    const denial = { principal, area, operation, reason, status };
    await recordDenial(route, call, { denial, target, request: of.request });
  }
  const headers: Outgoing =
    wrote === undefined ? {} : { 'X-Service-Consistency': printToken(group.service, wrote) };
  return { refusal, headers };
}

/**
 * Turns an exception into a refusal. The log gets the error's name, and its stack frames if the error is unexpected.
 */
export function thrown({ contract }: Route, call: Call, error: unknown): Refusing | 'gone' {
  // A failure after the client has disconnected needs no response.
  if (call.isGone()) return 'gone';
  const refusal = refusalOfThrow(error);
  const { logger } = call.parts;
  const fields = { request_id: call.requestId, operation: contract.name };
  if (refusal.status === 500) logger.error({ ...fields, err: error }, 'a request failed');
  else {
    const { code } = refusal;
    call.parts.refusedWrites?.heard(error);
    logger.warn({ ...fields, code, reason: reasonOf(error) }, 'a request could not be served');
  }
  return { refusal: inEndpointCodes(refusal, contract), headers: {} };
}
