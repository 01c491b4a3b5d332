/**
 * A request's way through one endpoint: door, body, handler, read side, answer. The order of the
 * checks is a promise (`architecture.md` section 7): what needs no body is decided before it is read.
 */

import type { Authenticator } from '@cardea/auth';
import type { ServiceName } from '@cardea/contracts';
import { BODY_MAX_BYTES, type BodyRule, readBody, refusedByHeaders } from './body.ts';
import {
  CONSISTENCY_WAIT_MS,
  CONSISTENCY_WAITERS_MAX,
  type PositionsPassed,
  printToken,
  readTokens,
} from './consistency.ts';
import { type DenialDesk, isRecorded } from './denials.ts';
import { admit, asksForRole, doubledHeaders } from './door.ts';
import type { Answer, Contract, Endpoint, Request } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { bodyHash, idempotentCommandId, isIdempotencyKey } from './idempotency.ts';
import { readJson } from './json.ts';
import { readQuery } from './query.ts';
import {
  type Fault,
  inItsWords,
  invalid,
  messageOf,
  type Refusal,
  refusalOf,
  refusalOfThrow,
} from './refusal.ts';
import { bodyValidator, stringsValidator, type Validator } from './validation.ts';
import type { Outgoing } from './write-answer.ts';

/** What an endpoint's own service lends it. */
export type Group = {
  readonly service: ServiceName;
  readonly authenticator: Authenticator;
  readonly positions: PositionsPassed | undefined;
  readonly denials: DenialDesk | undefined;
};

/** An endpoint made ready: everything that does not change from request to request. */
export type Route = {
  readonly endpoint: Endpoint;
  readonly contract: Contract;
  readonly group: Group;
  readonly bodyRule: BodyRule | undefined;
  readonly checkParams: Validator;
  readonly checkQuery: Validator;
  readonly checkBody: Validator;
  readonly asksForRole: boolean;
};

const NOTHING = { type: 'object', properties: {}, additionalProperties: false } as never;

export function routeOf(endpoint: Endpoint, group: Group): Route {
  const { contract } = endpoint;
  return {
    endpoint,
    contract,
    group,
    bodyRule:
      contract.method === 'get'
        ? undefined
        : {
            limitBytes: contract.bodyLimitBytes ?? BODY_MAX_BYTES,
            typeOptional: contract.bodyOptional === true || contract.body === undefined,
          },
    checkParams: stringsValidator(contract.params ?? NOTHING),
    checkQuery: stringsValidator(contract.query ?? NOTHING),
    checkBody: bodyValidator(contract.body ?? NOTHING),
    asksForRole: asksForRole(contract),
  };
}

type Said = {
  readonly refusal: Refusal;
  readonly target?: { readonly type: string; readonly id: string | null } | undefined;
  readonly wrote?: bigint | undefined;
  /** The door's own codes are spelled as the contract wants; a handler's stand as they are. */
  readonly own: boolean;
};

type AnyRequest = Request<unknown, unknown, unknown>;

/** Never throws; the exchange is answered, or its client is gone. */
export async function pass(
  route: Route,
  exchange: Exchange,
  params: { readonly [name: string]: string },
): Promise<void> {
  const context = contextOf(route, exchange);
  try {
    const passed = await comeIn(route, exchange, { params, context });
    if (passed === 'gone') return;
    if ('refusal' in passed) return await refuse(route, exchange, { said: passed, context });
    const answer = await route.endpoint.handle(passed);
    if ('raw' in answer) await raw(exchange, answer.raw);
    else if ('refused' in answer) {
      await refuse(route, exchange, { said: refusedBy(route, answer), context: passed });
    } else await succeed(route, exchange, answer);
  } catch (error) {
    fail(route, exchange, error);
  }
}

function contextOf(route: Route, exchange: Exchange): AnyRequest {
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
    headers: headers as { readonly [name: string]: string | undefined },
    signal: exchange.signal,
    draining: exchange.parts.draining,
  };
}

const APP_ID_MAX_CHARS = 128;
const isAppId = (id: string) => id.length > 0 && id.length <= APP_ID_MAX_CHARS;

/** Authentication to 400: the request as the handler may see it, or the first thing wrong with it. */
async function comeIn(
  route: Route,
  exchange: Exchange,
  of: { readonly params: { readonly [name: string]: string }; readonly context: AnyRequest },
): Promise<AnyRequest | Said | 'gone'> {
  const { contract, group } = route;
  const { authenticator } = group;
  const admission = await admit(exchange.request, contract, { authenticator, ip: exchange.ip });
  exchange.principal = admission.principal;
  if ('refusal' in admission) return { refusal: admission.refusal, own: true };
  const strings = readStrings(route, exchange, of.params);
  const request: AnyRequest = { ...of.context, ...admission };
  if (route.endpoint.admit !== undefined) {
    if ('faults' in strings) return { refusal: invalid(...strings.faults), own: true };
    const refused = await route.endpoint.admit({ ...request, ...strings, body: undefined });
    if (refused !== undefined) return refusedBy(route, refused);
  }
  const body = await readInput(route, exchange);
  if (body === 'gone') return body;
  if ('refusal' in body) return { refusal: body.refusal, own: true };
  const waited = await awaitRead(route, exchange);
  if (waited !== undefined) return { refusal: waited, own: true };
  const faults = 'faults' in strings ? strings.faults : headerFaults(route, exchange);
  if (faults.length > 0) return { refusal: invalid(...faults), own: true };
  return {
    ...request,
    ...(strings as Strings),
    body: body.value,
    ...identified(route, request, body.value),
  };
}

type Strings = { readonly params: unknown; readonly query: unknown };

function readStrings(
  route: Route,
  exchange: Exchange,
  params: { readonly [name: string]: string },
): Strings | { readonly faults: readonly Fault[] } {
  const query = readQuery(exchange.search);
  if ('fault' in query) return { faults: [query.fault] };
  const checkedParams = route.checkParams(params);
  if ('faults' in checkedParams) return checkedParams;
  const checkedQuery = route.checkQuery(query.values);
  if ('faults' in checkedQuery) {
    return {
      faults: checkedQuery.faults.map(({ field, rule }) => ({
        field: field === 'body' ? 'query' : field,
        rule,
      })),
    };
  }
  return { params: checkedParams.value, query: checkedQuery.value };
}

/** 415, 413, 400 of the body. */
async function readInput(
  { bodyRule, contract, checkBody }: Route,
  exchange: Exchange,
): Promise<{ readonly value: unknown } | { readonly refusal: Refusal } | 'gone'> {
  if (bodyRule === undefined) return { value: {} };
  const early = refusedByHeaders(exchange.request, bodyRule);
  if (early !== undefined) return { refusal: early };
  const reading = await readBody(exchange.request, exchange.response, bodyRule.limitBytes);
  if (reading === 'gone' || 'refusal' in reading) return reading;
  const json = reading.bytes.length === 0 ? noBody(contract) : readJson(reading.bytes);
  if ('fault' in json) return { refusal: invalid({ field: 'body', rule: json.fault }) };
  const checked = checkBody(json.value);
  return 'faults' in checked ? { refusal: invalid(...checked.faults) } : checked;
}

const noBody = (contract: Contract): { value: unknown } | { fault: 'required' } =>
  contract.body === undefined || contract.bodyOptional === true
    ? { value: {} }
    : { fault: 'required' };

function headerFaults({ contract }: Route, { request }: Exchange): readonly Fault[] {
  const { headers } = request;
  const doubled = doubledHeaders(request);
  const appId = headers['x-service-app-id'];
  if (doubled.has('x-service-app-id')) return [{ field: 'X-Service-App-Id', rule: 'repeated' }];
  if (typeof appId === 'string' && appId !== '' && !isAppId(appId)) {
    return [{ field: 'X-Service-App-Id', rule: 'max_length' }];
  }
  const key = headers['idempotency-key'];
  if (contract.idempotent !== true || key === undefined) return [];
  if (doubled.has('idempotency-key')) return [{ field: 'Idempotency-Key', rule: 'repeated' }];
  const fits = typeof key === 'string' && isIdempotencyKey(key);
  return fits ? [] : [{ field: 'Idempotency-Key', rule: 'form' }];
}

function identified(
  { contract }: Route,
  request: AnyRequest,
  body: unknown,
): Pick<AnyRequest, 'commandId' | 'idempotency'> {
  const key = request.headers['idempotency-key'];
  if (contract.idempotent !== true || key === undefined) {
    return { commandId: request.commandId, idempotency: undefined };
  }
  const { tenantId, principal } = request;
  return {
    commandId: idempotentCommandId({ tenantId, principal, operation: contract.name }, key),
    idempotency: { key, bodyHash: bodyHash(body) },
  };
}

let readersWaiting = 0;

/** A read that brings a token waits until the tables it reads have come so far. */
async function awaitRead(
  { contract, group }: Route,
  { request, parts }: Exchange,
): Promise<Refusal | undefined> {
  const header = request.headers['x-service-consistency'];
  if (header === undefined) return undefined;
  const position = readTokens(Array.isArray(header) ? header.join(',') : header, group.service);
  if (position === 'malformed') return refusalOf('invalid_consistency_token');
  const { reads } = contract;
  if (position === undefined || reads === undefined || group.positions === undefined) {
    return undefined;
  }
  if (readersWaiting >= CONSISTENCY_WAITERS_MAX) return refusalOf('overloaded');
  readersWaiting += 1;
  const stop = parts.metrics.consistencyWait.startTimer();
  try {
    if (await group.positions.reached(reads, position, CONSISTENCY_WAIT_MS)) return undefined;
    parts.metrics.consistencyTimeouts.inc();
    return refusalOf('not_caught_up');
  } finally {
    readersWaiting -= 1;
    stop();
  }
}

/** The writer reads its own writes; a slow projection never turns a success into an error. */
async function awaitWrite({ contract, group }: Route, { parts }: Exchange, wrote: bigint) {
  const { waitsFor } = contract;
  if (waitsFor === undefined || waitsFor.length === 0 || group.positions === undefined) return;
  const stop = parts.metrics.consistencyWait.startTimer();
  try {
    const reached = await group.positions.reached(waitsFor, wrote, CONSISTENCY_WAIT_MS);
    if (!reached) parts.metrics.consistencyTimeouts.inc();
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown';
    parts.logger.warn({ error: name }, 'an answer did not wait for its projections');
  } finally {
    stop();
  }
}

async function succeed(
  route: Route,
  exchange: Exchange,
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
  exchange: Exchange,
  { said, context }: { readonly said: Said; readonly context: AnyRequest },
): Promise<void> {
  const refusal = said.own ? inItsWords(said.refusal, contract) : said.refusal;
  const { principal } = exchange;
  if (principal !== undefined && group.denials !== undefined && isRecorded(contract, refusal)) {
    const { code: reason, status } = refusal;
    const { name: operation, area } = contract;
    const { tenantId } = principal;
    const request = { ...context, principal, tenantId, commandId: exchange.parts.ids.next() };
    const target = said.target ?? null;
    const denial = { principal, area, operation, reason, status, target, count: 1, request };
    await group.denials.record(denial);
  }
  const token =
    said.wrote === undefined
      ? {}
      : { 'X-Service-Consistency': printToken(group.service, said.wrote) };
  exchange.refuse(refusal, token);
}

async function raw(
  exchange: Exchange,
  write: Extract<Answer<never, string>, { readonly raw: unknown }>['raw'],
): Promise<void> {
  const { response } = exchange;
  for (const [name, value] of Object.entries(exchange.headers())) response.setHeader(name, value);
  await write(response);
}

/** One place turns a throw into an answer; the cause goes to the log by its name and frames. */
function fail({ contract }: Route, exchange: Exchange, error: unknown): void {
  const refusal = refusalOfThrow(error);
  const { logger } = exchange.parts;
  const fields = { request_id: exchange.requestId, operation: contract.name, err: error };
  if (refusal.status === 500) logger.error(fields, 'a request failed');
  else
    logger.warn({ ...fields, err: undefined, code: refusal.code }, 'a request could not be served');
  if (exchange.response.headersSent) exchange.response.destroy();
  else exchange.refuse(inItsWords(refusal, contract));
}
