/** The body and the headers of a request, validated by the contract. */

import type { HttpContext } from '../context/http-context.ts';
import type { Contract } from '../contract/contract.ts';
import type { Request } from '../contract/endpoint.ts';
import {
  BODY_MAX_BYTES,
  type BodyReading,
  type BodyRule,
  isForm,
  readBody,
  refusedByHeaders,
} from '../input/body.ts';
import { bodyHash, isIdempotencyKey } from '../input/idempotency.ts';
import { JsonScan, readJson } from '../input/json.ts';
import { mayBeLarge } from '../input/large-bodies.ts';
import { readQuery } from '../input/query.ts';
import { type Fault, invalid, refusalOf } from '../refusals/refusal.ts';
import type { Call, Input } from './call.ts';
import type { Route } from './route.ts';

type AnyRequest = Request<unknown, unknown, unknown>;

const APP_ID_MAX_CHARS = 128;
export const isAppId = (id: string) => id.length > 0 && id.length <= APP_ID_MAX_CHARS;

/** Reads the body. Returns 415, 413 or 400 if it is refused. It is a promise only if the body has not arrived yet. */
export function readInput(route: Route, http: HttpContext): Input | Promise<Input> {
  const { bodyRule } = route;
  if (bodyRule === undefined) return { value: {} };
  const early = refusedByHeaders(http.request, bodyRule);
  if (early !== undefined) return { refusal: early };
  if (bodyRule.limitBytes > BODY_MAX_BYTES && mayBeLarge(http.request.headers)) {
    return readLargeInput(route, http, bodyRule);
  }
  const reading = readBody(http.request, http.response, bodyRule.limitBytes);
  return reading instanceof Promise
    ? reading.then((read) => inputOf(route, http, read))
    : inputOf(route, http, reading);
}

/**
 * Reads within the tenant's share of large bodies, which is released when the request ends. Content that exceeds a
 * limit is refused as soon as it arrives, because joining and parsing megabytes delays all other requests.
 */
async function readLargeInput(
  route: Route,
  http: HttpContext,
  { limitBytes, keysMax }: BodyRule,
): Promise<Input> {
  const { largeBodies } = http.parts;
  const release = largeBodies.take(http.principal?.tenantId ?? '');
  if (release === undefined) return { refusal: refusalOf('overloaded') };
  http.response.once('close', release);
  const scan = new JsonScan(keysMax);
  const check = (part: Buffer) => {
    const fault = scan.add(part.toString('latin1'));
    return fault && invalid({ field: 'body', rule: fault });
  };
  const isChecked = !isForm(http.request.headers);
  const reading = await readBody(
    http.request,
    http.response,
    limitBytes,
    isChecked ? check : undefined,
  );
  return largeBodies.parsed(() => (http.signal.aborted ? 'gone' : inputOf(route, http, reading)));
}

function inputOf(
  { bodyRule, contract, checkBody }: Route,
  http: HttpContext,
  reading: BodyReading,
): Input {
  if (reading === 'gone' || 'refusal' in reading) return reading;
  http.bodyIsRead = true;
  const form = bodyRule?.takesForm === true && isForm(http.request.headers);
  const [first, ...others] = reading.parts;
  const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(reading.parts);
  let read: { value: unknown } | { fault: string };
  if (bytes.length === 0) read = noBody(contract);
  else read = form ? readForm(bytes) : readJson(bytes, bodyRule?.keysMax);
  if ('fault' in read) return { refusal: invalid({ field: 'body', rule: read.fault }) };
  const checked = checkBody(read.value);
  return 'faults' in checked ? { refusal: invalid(...checked.faults) } : checked;
}

function readForm(bytes: Buffer): { value: unknown } | { fault: string } {
  const form = readQuery(bytes.toString('latin1'));
  return 'fault' in form ? { fault: form.fault.rule } : { value: { ...form.values } };
}

const noBody = (contract: Contract): { value: unknown } | { fault: 'required' } =>
  contract.body === undefined || contract.input?.isOptional === true
    ? { value: {} }
    : { fault: 'required' };

const NO_FAULTS: readonly Fault[] = [];

export function headerFaults({ takesKey }: Route, { headers, doubled }: Call): readonly Fault[] {
  const appId = headers['x-service-app-id'];
  if (doubled.has('x-service-app-id')) return [{ field: 'X-Service-App-Id', rule: 'repeated' }];
  if (typeof appId === 'string' && appId !== '' && !isAppId(appId)) {
    return [{ field: 'X-Service-App-Id', rule: 'max_length' }];
  }
  const key = headers['idempotency-key'];
  if (!takesKey || key === undefined) return NO_FAULTS;
  if (doubled.has('idempotency-key')) return [{ field: 'Idempotency-Key', rule: 'repeated' }];
  const fits = typeof key === 'string' && isIdempotencyKey(key);
  return fits ? [] : [{ field: 'Idempotency-Key', rule: 'form' }];
}

/**
 * For endpoints that honour `Idempotency-Key`. Adds the sent key, and the command id derived from it unless the handler
 * does that.
 */
export function identified(
  { contract, group }: Route,
  request: AnyRequest,
): AnyRequest | Promise<AnyRequest> {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return request;
  const keyed = { ...request, idempotency: { key, bodyHash: bodyHash(request.body) } };
  return contract.repeat === 'by_key_in_handler' ? keyed : group.identify(keyed);
}
