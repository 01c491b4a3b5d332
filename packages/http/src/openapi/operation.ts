/** One operation of the document, generated from its contract. */
import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import { type Contract, retryOf, takesKey } from '../contract/contract.ts';
import { answerSchema, closedSchema, plainSchema } from '../input/validation.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { CLIENT_NAMES } from './client-names.ts';
import { headerRef, parameterRef, securityOf } from './components.ts';
import { descriptionOf } from './description.ts';
import { exampleOf } from './examples.ts';
import { described, type Json, type NamedTypes, pascal } from './named-types.ts';
import { oauthRefusal, pageContent, type Refusals } from './refusals.ts';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

export type Parts = { readonly types: NamedTypes; readonly refusals: Refusals };

export function operation({ contract, codes }: CatalogueEntry, parts: Parts): Json {
  const { who, summary, tag, input } = contract;
  const refused = Object.entries(codes).map(([status, names]) => [
    status,
    contract.response?.errors === 'oauth'
      ? oauthRefusal(status, names, { types: parts.types, contract })
      : parts.refusals.of(status, names, contract),
  ]);
  const name = clientName(contract);
  const description = descriptionOf(contract);
  return {
    operationId: `${name.charAt(0).toLowerCase()}${name.slice(1)}`,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: securityOf(contract),
    ...(who === 'anyone' ? {} : { 'x-callers': [...who, ...machinesOf(contract)] }),
    'x-retry': retryOf(contract),
    parameters: parametersOf(contract, parts.types),
    ...(contract.body === undefined
      ? {}
      : {
          requestBody: {
            required: input?.isOptional !== true,
            content: bodyContent(contract, name, contract.body, parts.types),
          },
        }),
    responses: { ...Object.fromEntries(refused), ...successes(contract, name, parts.types) },
  };
}

/** `machine:` and its scope, or `machine` if it needs none. */
const machinesOf = ({ machine = 'never' }: Contract): readonly string[] => {
  if (machine === 'never') return [];
  return [machine === 'any' ? 'machine' : `machine:${machine}`];
};

function bodyContent(contract: Contract, name: string, body: TSchema, types: NamedTypes): Json {
  const json = jsonContent(closedSchema(body), `${name}Body`, types);
  const { takesForm, passedOn } = contract.input ?? {};
  if (takesForm !== true && passedOn !== true) return json;
  const form = { [FORM_TYPE]: json[JSON_TYPE] };
  return passedOn === true ? form : { ...json, ...form };
}

/** The operation's types are named after it. */
const clientName = ({ name }: Contract): string => pascal(CLIENT_NAMES[name] ?? name);

function parametersOf(contract: Contract, types: NamedTypes): readonly unknown[] {
  const { params, query, tenant, who, consistency = {} } = contract;
  const mayRepeat = tenant === 'optional' || (tenant === 'none' && who !== 'anyone');
  return [
    ...parametersIn(params, { place: 'path', owner: clientName(contract) }, types),
    ...parametersIn(query, { place: 'query', owner: clientName(contract) }, types),
    ...(tenant === 'required' ? [parameterRef('TenantHeader')] : []),
    ...(mayRepeat ? [parameterRef('OptionalTenantHeader')] : []),
    ...(who === 'anyone' ? [] : [parameterRef('AppHeader')]),
    ...(takesKey(contract) ? [parameterRef('IdempotencyKeyHeader')] : []),
    ...(consistency.reads !== undefined || consistency.byHandler === true
      ? [parameterRef('ConsistencyHeader')]
      : []),
  ];
}

function parametersIn(
  shape: TSchema | undefined,
  { place, owner }: { readonly place: 'path' | 'query'; readonly owner: string },
  types: NamedTypes,
): readonly Json[] {
  if (shape === undefined) return [];
  const { properties = {}, required = [] } = standard(closedSchema(shape)) as {
    properties?: { [name: string]: Json };
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = described(schema, owner, name);
    return {
      name,
      in: place,
      ...(place === 'path' || required.includes(name) ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema: types.take(rest),
    };
  });
}

function successes(contract: Contract, name: string, types: NamedTypes): Json {
  const { ok, response = {} } = contract;
  const { status = 200, others = {}, mediaType = JSON_TYPE } = response;
  const headers = {
    'X-Request-Id': headerRef('RequestId'),
    ...(contract.method === 'get' && contract.consistency?.waitsFor === undefined
      ? {}
      : { 'X-Service-Consistency': headerRef('Consistency') }),
  };
  const one = (schema: TSchema, answered: number | string, typeName: string) => {
    if (Number(answered) >= REDIRECT) return redirect(Number(answered));
    return {
      description: `${STATUS_CODES[answered]}.`,
      headers,
      content:
        mediaType === JSON_TYPE
          ? { ...jsonContent(answerSchema(schema), typeName, types), ...pageContent(contract) }
          : { [mediaType]: { schema: standard(plainSchema(schema)) } },
    };
  };
  const further = Object.entries(others).map(([other, schema]) => [
    other,
    one(schema, other, `${name}Result${other}`),
  ]);
  return {
    [status]: one(ok, status, `${name}Result`),
    ...Object.fromEntries(further),
  };
}

const REDIRECT = 300;
const redirect = (status: number) => ({
  description: `${STATUS_CODES[status]}.`,
  headers: { 'X-Request-Id': headerRef('RequestId'), Location: headerRef('Location') },
});

const jsonContent = (schema: Json, name: string, types: NamedTypes): Json => {
  const plain = standard(schema);
  return {
    [JSON_TYPE]: { schema: types.take(plain, name), example: exampleOf(plain) },
  };
};

/**
 * Adds limits that a handler enforces to those of the schema. `maxBytes` is our own keyword; JSON Schema counts
 * characters, whose number never exceeds the bytes. `exactText` is only for our parser of ids, so it is removed.
 */
const standard = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema), (name, value) => {
    if (name === 'exactText' && value === true) return undefined;
    if (typeof value?.documented === 'object') {
      const { documented, ...rest } = value;
      return { ...rest, ...documented };
    }
    if (typeof value?.maxBytes !== 'number') return value;
    const { maxBytes, description, ...rest } = value;
    const limit = `At most ${maxBytes} bytes of UTF-8.`;
    return {
      ...rest,
      maxLength: maxBytes,
      description: description === undefined ? limit : `${description} ${limit}`,
    };
  }) as Json;
