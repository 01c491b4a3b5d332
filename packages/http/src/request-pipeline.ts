/**
 * The request pipeline: authentication, body, handler, read side, response. The order of the checks is a
 * promise (`docs/architecture.md`, Order of the checks): what needs no body is decided before the body is
 * read.
 */

import { metrics } from '@cardea/runtime';
import { admit, confirm } from './authenticate.ts';
import { printToken } from './consistency.ts';
import { isRecorded } from './denials.ts';
import type { Answer, Request } from './endpoint.ts';
import type { HttpContext } from './http-context.ts';
import { headerFaults, identified, isAppId, readInput, readStrings } from './input.ts';
import { awaitRead, awaitWrite } from './read-side.ts';
import { inEndpointCodes, invalid, messageOf, type Refusal, refusalOfThrow } from './refusal.ts';
import type { Route } from './route.ts';
import type { Outgoing } from './write-answer.ts';

type Said = {
  readonly refusal: Refusal;
  readonly target?: { readonly type: string; readonly id: string | null } | undefined;
  readonly wrote?: bigint | undefined;
  /**
   * True for the pipeline's own codes, which the contract may spell differently; a handler's codes are used
   * as they are.
   */
  readonly own: boolean;
};

type AnyRequest = Request<unknown, unknown, unknown>;

/**
 * A request that is ready for its handler, with what the endpoint's own check returned before the body was
 * read.
 */
type Entered = { readonly request: AnyRequest; readonly admitted: unknown };

/** Never throws; at its end the response was sent, or the client has disconnected. */
export async function pass(
  route: Route,
  exchange: HttpContext,
  params: { readonly [name: string]: string },
): Promise<void> {
  const context = contextOf(route, exchange);
  try {
    const entered = await comeIn(route, exchange, { params, context });
    if (entered === 'gone') return;
    if ('refusal' in entered) return await refuse(route, exchange, { said: entered, context });
    const answer = await handled(route, entered);
    const { request } = entered;
    if ('refusal' in answer) {
      return await refuse(route, exchange, { said: answer, context: request });
    }
    if ('raw' in answer) await raw(exchange, answer.raw);
    else if ('refused' in answer) {
      await refuse(route, exchange, { said: refusedBy(route, answer), context: request });
    } else await succeed(route, exchange, answer);
  } catch (error) {
    fail(route, exchange, error);
  }
}

function contextOf(route: Route, exchange: HttpContext): AnyRequest {
  const { headers } = exchange.request;
  const appId = headers['x-service-app-id'];
  return {
    params: undefined,
    query: undefined,
    body: undefined,
    principal: undefined,
    tenantId: '',
    appId: typeof appId === 'string' && isAppId(appId) ? appId : undefined,
    ip: exchange.ip,
    userAgent: headers['user-agent'] ?? '',
    requestId: exchange.requestId,
    traceparent: exchange.traceparent,
    commandId: exchange.parts.ids.next(),
    idempotency: undefined,
    asksForRole: route.asksForRole,
    operation: route.contract.name,
    isHead: exchange.request.method === 'HEAD',
    headers: headers as { readonly [name: string]: string | undefined },
    signal: exchange.signal,
    draining: exchange.parts.draining,
  };
}

/** All checks from authentication to 400: returns the request for the handler, or the first refusal. */
async function comeIn(
  route: Route,
  exchange: HttpContext,
  of: { readonly params: { readonly [name: string]: string }; readonly context: AnyRequest },
): Promise<Entered | Said | 'gone'> {
  const { contract, group } = route;
  const { authenticator } = group;
  const admission = await admit(exchange.request, contract, { authenticator, ip: exchange.ip });
  exchange.principal = admission.principal;
  if ('refusal' in admission) return { refusal: admission.refusal, own: true };
  const strings = readStrings(route, exchange, of.params);
  const request: AnyRequest = { ...of.context, ...admission };
  let admitted: unknown;
  if (route.endpoint.admit !== undefined) {
    if ('faults' in strings) return { refusal: invalid(...strings.faults), own: true };
    const found = await route.endpoint.admit({ ...request, ...strings, body: undefined });
    if ('refused' in found) return refusedBy(route, found);
    admitted = found.admitted;
  }
  const body = await readInput(route, exchange);
  if (body === 'gone') return body;
  if ('refusal' in body) return { refusal: body.refusal, own: true };
  const waited = await awaitRead(route, exchange);
  if (waited !== undefined) return { refusal: waited, own: true };
  if ('faults' in strings) return { refusal: invalid(...strings.faults), own: true };
  const faults = headerFaults(route, exchange);
  if (faults.length > 0) return { refusal: invalid(...faults), own: true };
  const whole = { ...request, ...strings, body: body.value };
  return { request: await identified(route, whole), admitted };
}

/** The role is checked again before a new secret is shown, as it may have been revoked meanwhile. */
async function handled(
  route: Route,
  { request, admitted }: Entered,
): Promise<Answer<unknown, string> | Said> {
  const before = await confirmed(route, request);
  if ('refusal' in before) return before;
  const answer = await route.endpoint.handle(before, admitted);
  if (route.contract.showsSecret !== true || !('ok' in answer)) return answer;
  const after = await confirmed(route, request);
  return 'refusal' in after ? after : answer;
}

async function confirmed(
  { contract, group, writesByRole }: Route,
  request: AnyRequest,
): Promise<AnyRequest | Said> {
  if (!writesByRole || request.principal?.kind !== 'user') return request;
  const now = await confirm(contract, request.principal, group.authenticator);
  return 'refusal' in now ? { refusal: now.refusal, own: true } : { ...request, ...now };
}

async function succeed(
  route: Route,
  exchange: HttpContext,
  answer: Extract<Answer<unknown, string>, { readonly ok: unknown }>,
): Promise<void> {
  const headers: Outgoing = exchange.headers();
  if (answer.wrote !== undefined) {
    await awaitWrite(route, exchange, answer.wrote);
    headers['X-Service-Consistency'] = printToken(route.group.service, answer.wrote);
  }
  Object.assign(headers, answer.headers);
  exchange.answer(answer.status ?? route.contract.status ?? 200, answer.ok, headers);
}

function refusedBy(
  { contract }: Route,
  answer: Extract<Answer<never, string>, { readonly refused: string }>,
): Said {
  const { refused: code, details, headers, target, wrote } = answer;
  const status = contract.refusals[code];
  if (status === undefined) throw new Error('a handler refused with a code its contract lacks');
  const message = answer.message ?? messageOf(code);
  return { refusal: { status, code, message, details, headers }, target, wrote, own: false };
}

async function refuse(
  { contract, group }: Route,
  exchange: HttpContext,
  { said, context }: { readonly said: Said; readonly context: AnyRequest },
): Promise<void> {
  const refusal = said.own ? inEndpointCodes(said.refusal, contract) : said.refusal;
  if (refusal.status === 429) metrics.rateLimited.inc({ rule: `${contract.name}/${refusal.code}` });
  const { principal } = exchange;
  if (principal !== undefined && group.denials !== undefined && isRecorded(contract, refusal)) {
    const { code: reason, status } = refusal;
    const { name: operation, area } = contract;
    const { tenantId } = principal;
    const request = { ...context, principal, tenantId, commandId: exchange.parts.ids.next() };
    const target = said.target ?? null;
    const denial = { principal, area, operation, reason, status, target, request };
    await group.denials.record(denial);
  }
  const token =
    said.wrote === undefined
      ? {}
      : { 'X-Service-Consistency': printToken(group.service, said.wrote) };
  exchange.refuse(refusal, token);
}

async function raw(
  exchange: HttpContext,
  write: Extract<Answer<never, string>, { readonly raw: unknown }>['raw'],
): Promise<void> {
  const { response } = exchange;
  for (const [name, value] of Object.entries(exchange.headers())) response.setHeader(name, value);
  await write(response);
}

/** Turns a throw into a response; the log gets the error's name and stack frames. */
function fail({ contract }: Route, exchange: HttpContext, error: unknown): void {
  // A failure after the client has disconnected needs no response.
  if (exchange.signal.aborted && exchange.response.destroyed) return;
  const refusal = refusalOfThrow(error);
  const { logger } = exchange.parts;
  const fields = { request_id: exchange.requestId, operation: contract.name, err: error };
  if (refusal.status === 500) logger.error(fields, 'a request failed');
  else
    logger.warn({ ...fields, err: undefined, code: refusal.code }, 'a request could not be served');
  if (exchange.response.headersSent) exchange.response.destroy();
  else exchange.refuse(inEndpointCodes(refusal, contract));
}
