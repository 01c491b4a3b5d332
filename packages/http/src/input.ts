/** The input of a request: parameters, query, headers and body, each validated by the contract. */

import { isForm, readBody, refusedByHeaders } from './body.ts';
import type { Contract, Request } from './endpoint.ts';
import type { HttpContext } from './http-context.ts';
import { bodyHash, isIdempotencyKey } from './idempotency.ts';
import { readJson } from './json.ts';
import { readQuery } from './query.ts';
import { type Fault, invalid, type Refusal } from './refusal.ts';
import type { Route } from './route.ts';

type AnyRequest = Request<unknown, unknown, unknown>;

const APP_ID_MAX_CHARS = 128;
export const isAppId = (id: string) => id.length > 0 && id.length <= APP_ID_MAX_CHARS;

export type Strings = { readonly params: unknown; readonly query: unknown };

const NO_STRINGS: Strings = { params: {}, query: {} };

export function readStrings(
  route: Route,
  http: HttpContext,
  params: { readonly [name: string]: string },
): Strings | { readonly faults: readonly Fault[] } {
  if (route.contract.passedOn === true) return { params, query: {} };
  if (!route.takesStrings && http.search === '') return NO_STRINGS;
  const query = readQuery(http.search);
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

/** Reads the body; 415, 413 and 400 where it is refused. */
export async function readInput(
  { bodyRule, contract, checkBody }: Route,
  http: HttpContext,
): Promise<{ readonly value: unknown } | { readonly refusal: Refusal } | 'gone'> {
  if (bodyRule === undefined) return { value: {} };
  const early = refusedByHeaders(http.request, bodyRule);
  if (early !== undefined) return { refusal: early };
  const reading = await readBody(http.request, http.response, bodyRule.limitBytes);
  if (reading === 'gone' || 'refusal' in reading) return reading;
  http.bodyIsRead = true;
  const form = bodyRule.takesForm && isForm(http.request);
  const read = reading.bytes.length === 0 ? noBody(contract) : parsed(reading.bytes, form);
  if ('fault' in read) return { refusal: invalid({ field: 'body', rule: read.fault }) };
  const checked = checkBody(read.value);
  return 'faults' in checked ? { refusal: invalid(...checked.faults) } : checked;
}

function parsed(bytes: Buffer, isForm: boolean): { value: unknown } | { fault: string } {
  if (!isForm) return readJson(bytes);
  const form = readQuery(bytes.toString('latin1'));
  return 'fault' in form ? { fault: form.fault.rule } : { value: { ...form.values } };
}

const noBody = (contract: Contract): { value: unknown } | { fault: 'required' } =>
  contract.body === undefined || contract.bodyOptional === true
    ? { value: {} }
    : { fault: 'required' };

const NO_FAULTS: readonly Fault[] = [];

export function headerFaults(
  { contract }: Route,
  { request, doubled }: HttpContext,
): readonly Fault[] {
  const { headers } = request;
  const appId = headers['x-service-app-id'];
  if (doubled.has('x-service-app-id')) return [{ field: 'X-Service-App-Id', rule: 'repeated' }];
  if (typeof appId === 'string' && appId !== '' && !isAppId(appId)) {
    return [{ field: 'X-Service-App-Id', rule: 'max_length' }];
  }
  const key = headers['idempotency-key'];
  if (contract.idempotent === undefined || key === undefined) return NO_FAULTS;
  if (doubled.has('idempotency-key')) return [{ field: 'Idempotency-Key', rule: 'repeated' }];
  const fits = typeof key === 'string' && isIdempotencyKey(key);
  return fits ? [] : [{ field: 'Idempotency-Key', rule: 'form' }];
}

/** Adds the sent `Idempotency-Key`, and the command id derived from it where that is not left to the handler. */
export function identified(
  { contract, group }: Route,
  request: AnyRequest,
): AnyRequest | Promise<AnyRequest> {
  const key = request.headers['idempotency-key'];
  if (contract.idempotent === undefined || key === undefined) return request;
  const keyed = { ...request, idempotency: { key, bodyHash: bodyHash(request.body) } };
  return contract.idempotent === 'by_handler' ? keyed : group.identify(keyed);
}
