/**
 * The OpenAPI 3.1 document is made from the endpoint values and says nothing that they do not: what is
 * not built is not in it.
 */
import type { TSchema } from 'typebox';
import { type CatalogueEntry, catalogue } from '../catalogue.ts';
import type { Contract, Endpoint } from '../endpoint.ts';
import { closedSchema, plainSchema } from '../validation.ts';

type Json = { [key: string]: unknown };

export type DocumentOf = {
  readonly endpoints: readonly Endpoint[];
  readonly version: string;
  /** Where clients reach it. */
  readonly publicUrl: string;
};

const HEADER = 'header';

export function openApi({ endpoints, version, publicUrl }: DocumentOf): Json {
  const entries = catalogue(endpoints);
  const paths: { [path: string]: Json } = {};
  for (const entry of entries) {
    const { path, method } = entry.contract;
    paths[path] = { ...paths[path], [method]: operation(entry) };
  }
  const tags = [...new Set(entries.map(({ contract }) => contract.tag))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cardea',
      version,
      description: 'Identity, fine-grained authorization and agent credentials.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: { securitySchemes, parameters: headerParameters, headers: answerHeaders },
  };
}

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token, an API key (`svc_…`) or an agent key (`agk_…`).',
  },
};

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
const headerParameters = {
  Tenant: {
    name: 'X-Service-Tenant',
    in: HEADER,
    required: true,
    description: 'The tenant; the one of the credential, where there is one.',
    schema: text(128),
  },
  OptionalTenant: {
    name: 'X-Service-Tenant',
    in: HEADER,
    description: 'May repeat the tenant that the credential names.',
    schema: text(128),
  },
  App: {
    name: 'X-Service-App-Id',
    in: HEADER,
    description: 'Scopes the call to one application.',
    schema: text(128),
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: HEADER,
    description: 'A repeat with the same key is the same command.',
    schema: { ...text(128), pattern: '^[ -~]+$' },
  },
  Consistency: {
    name: 'X-Service-Consistency',
    in: HEADER,
    description: 'Token of an earlier answer: nothing older is read.',
    schema: { type: 'string' },
  },
};

const answerHeaders = {
  RequestId: {
    description: 'Id of this request, as in logs and audit.',
    schema: { type: 'string' },
  },
  Consistency: {
    description: 'Sent back with a read, it makes the read wait for this write.',
    schema: { type: 'string' },
  },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
  Authenticate: { description: 'How to authenticate (RFC 6750).', schema: { type: 'string' } },
};

const headerRef = (name: keyof typeof answerHeaders) => ({ $ref: `#/components/headers/${name}` });
const parameterRef = (name: keyof typeof headerParameters) => ({
  $ref: `#/components/parameters/${name}`,
});

function operation({ contract, codes }: CatalogueEntry): Json {
  const refused = Object.entries(codes).map(([status, names]) => [status, refusal(status, names)]);
  const { body, who } = contract;
  return {
    operationId: contract.name,
    summary: contract.summary,
    tags: [contract.tag],
    security: who === 'anyone' ? [] : [{ bearer: [] }],
    ...(who === 'anyone' ? {} : { 'x-callers': who }),
    parameters: parametersOf(contract),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: contract.bodyOptional !== true,
            content: { 'application/json': { schema: standard(closedSchema(body)) } },
          },
        }),
    responses: { ...Object.fromEntries(refused), ...successes(contract) },
  };
}

function parametersOf(contract: Contract): readonly unknown[] {
  const { params, query, tenant, who, method } = contract;
  const mayRepeat = tenant === 'optional' || (tenant === 'none' && who !== 'anyone');
  return [
    ...named(params, 'path'),
    ...named(query, 'query'),
    ...(tenant === 'required' ? [parameterRef('Tenant')] : []),
    ...(mayRepeat ? [parameterRef('OptionalTenant')] : []),
    ...(who === 'anyone' ? [] : [parameterRef('App')]),
    ...(contract.idempotent !== undefined ? [parameterRef('IdempotencyKey')] : []),
    ...(contract.reads !== undefined && method === 'get' ? [parameterRef('Consistency')] : []),
  ];
}

function named(schema: TSchema | undefined, place: 'path' | 'query'): readonly Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = standard(plainSchema(schema)) as {
    properties?: { [name: string]: Json };
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    ...(place === 'path' || required.includes(name) ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

function successes(contract: Contract): Json {
  const { ok, status = 200, otherOk = {}, okMediaType = 'application/json' } = contract;
  const headers = {
    'X-Request-Id': headerRef('RequestId'),
    ...(contract.waitsFor === undefined
      ? {}
      : { 'X-Service-Consistency': headerRef('Consistency') }),
  };
  const one = (schema: TSchema, description: string) => ({
    description,
    headers,
    content: { [okMediaType]: { schema: standard(plainSchema(schema)) } },
  });
  const others = Object.entries(otherOk).map(([other, schema]) => [
    other,
    one(schema, 'Otherwise.'),
  ]);
  return { [status]: one(ok, 'Done.'), ...Object.fromEntries(others) };
}

function refusal(status: string, codes: readonly string[]): Json {
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: {
      'X-Request-Id': headerRef('RequestId'),
      ...(status === '401' ? { 'WWW-Authenticate': headerRef('Authenticate') } : {}),
      ...(status === '429' || status === '503' ? { 'Retry-After': headerRef('RetryAfter') } : {}),
    },
    content: { 'application/json': { schema: errorSchema(codes) } },
  };
}

/** Limits in bytes are ours: JSON Schema counts characters, of which there are no more than bytes. */
const standard = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema), (_name, value) => {
    if (typeof value?.maxBytes !== 'number') return value;
    const { maxBytes, description, ...rest } = value;
    const limit = `At most ${maxBytes} bytes of UTF-8.`;
    return {
      ...rest,
      maxLength: maxBytes,
      description: description === undefined ? limit : `${description} ${limit}`,
    };
  }) as Json;

/** The one error body, with the codes that this status has here. */
export const errorSchema = (codes: readonly string[]): Json => ({
  type: 'object',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id'],
      additionalProperties: false,
      properties: {
        code: { type: 'string', enum: codes },
        message: { type: 'string' },
        request_id: { type: 'string' },
        details: {
          description: 'What the code alone does not say: fields and rules, a scope, an id.',
        },
      },
    },
  },
});
