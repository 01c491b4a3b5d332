/** The refusals of operations: a type for each code, and a response for each set of codes. */
import { ERROR_DETAILS } from '@cardea/contracts';
import type { Contract } from '../contract/contract.ts';
import { plainSchema } from '../input/validation.ts';
import { oauthErrorCode } from '../refusals/oauth-error.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { headerRef } from './components.ts';
import { type Json, type NamedTypes, pascal } from './named-types.ts';

export type Refusals = {
  /** The operation's response with this status, as a reference if other operations have the same one. */
  readonly of: (status: string, codes: readonly string[], contract: Contract) => Json;
  readonly components: { readonly [name: string]: Json };
};

/** A set of codes that two operations share is defined once, under `components.responses`. */
export function refusalsOf(entries: readonly CatalogueEntry[], types: NamedTypes): Refusals {
  const uses = new Map<string, number>();
  for (const { codes, contract } of entries) {
    for (const [status, names] of Object.entries(codes)) {
      const key = nameOf(status, names, contract);
      uses.set(key, (uses.get(key) ?? 0) + 1);
    }
  }
  const components: { [name: string]: Json } = {};
  return {
    components,
    of: (status, codes, contract) => {
      const response = responseOf(status, codes, { types, contract });
      const name = nameOf(status, codes, contract);
      if ((uses.get(name) ?? 0) < 2) return response;
      components[name] = response;
      return { $ref: `#/components/responses/${name}` };
    },
  };
}

/** The name consists of the codes, because numbers would change with each operation that is added. */
const nameOf = (status: string, codes: readonly string[], { response }: Contract): string =>
  `${codes.map(typeName).join('Or')}${response?.orPage === true ? 'OrPage' : ''}${status}`;

/** The response may also be a page. */
export const pageContent = ({ response }: Contract): Json =>
  response?.orPage === true ? { 'text/html': { schema: { type: 'string' } } } : {};

type Of = { readonly types: NamedTypes; readonly contract: Contract };

function responseOf(status: string, codes: readonly string[], { types, contract }: Of): Json {
  const each = codes.map((code) => types.take(errorSchema(code), `${typeName(code)}Error`));
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: {
      'X-Request-Id': headerRef('RequestId'),
      ...(status === '401' ? { 'WWW-Authenticate': headerRef('Authenticate') } : {}),
      ...(status === '429' || status === '503' ? { 'Retry-After': headerRef('RetryAfter') } : {}),
    },
    content: {
      'application/json': { schema: each.length === 1 ? each[0] : { anyOf: each } },
      ...pageContent(contract),
    },
  };
}

/** The body of RFC 6749. The description lists the codes of a status. */
export function oauthRefusal(
  status: string,
  codes: readonly string[],
  { types, contract }: Of,
): Json {
  const named = [...new Set(codes.map(oauthErrorCode))].sort();
  const schema = {
    type: 'object',
    required: ['error'],
    properties: { error: { type: 'string' }, error_description: { type: 'string' } },
  };
  return {
    description: named.map((code) => `\`${code}\``).join(', '),
    headers: {
      'X-Request-Id': headerRef('RequestId'),
      ...(status === '429' || status === '503' ? { 'Retry-After': headerRef('RetryAfter') } : {}),
    },
    content: {
      'application/json': { schema: types.take(schema, 'OAuthError') },
      ...pageContent(contract),
    },
  };
}

/** Only vending has codes in capitals, some of which other operations have in lower case. */
const typeName = (code: string): string =>
  code === code.toUpperCase() ? `Vend${pascal(code)}` : pascal(code.replace(/_error$/, ''));

/** The error body with one code and its details. */
function errorSchema(code: string): Json {
  const details = ERROR_DETAILS[code] ?? ERROR_DETAILS[code.toLowerCase()];
  return {
    type: 'object',
    required: ['error'],
    additionalProperties: false,
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'request_id'],
        additionalProperties: false,
        properties: {
          code: { type: 'string', const: code },
          message: { type: 'string' },
          request_id: { type: 'string' },
          ...(details === undefined ? {} : { details: plainSchema(details) }),
        },
      },
    },
  };
}
