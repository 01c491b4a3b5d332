/**
 * Tests that a refused request says which field is refused and what would be accepted. The requests are derived from
 * each contract.
 */
import { ERROR_DETAILS } from '@cardea/contracts';
import type { Endpoint } from '@cardea/http';
import { testDatabase } from '@cardea/testing';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testCallers } from './callers.ts';
import { catalogueOf, type Entry } from './catalogue.ts';
import { type Fortress, fortress } from './fortress.ts';
import { type Ask, send, titleOf } from './sample.ts';

const database = testDatabase();
let world: Fortress;
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
});
afterAll(async () => {
  await world?.stop();
});

type Properties = { readonly [name: string]: TSchema };
/** A request that breaks one rule, and the field that has to be named. */
type Broken = { readonly field: string; readonly ask: Ask };

const WRONG: readonly unknown[] = [7.5, true, 'no such value', { surprise: 1 }, [[7.5]], null];

const propertiesOf = (schema: TSchema | undefined): Properties =>
  (schema as { properties?: Properties } | undefined)?.properties ?? {};
const requiredOf = (schema: TSchema | undefined): readonly string[] =>
  (schema as { required?: readonly string[] } | undefined)?.required ?? [];

function wrongValue(schema: TSchema): unknown {
  const check = Compile(schema);
  return WRONG.find((value) => !check.Check(value));
}

function brokenBodies({ contract }: Endpoint, ask: Ask): readonly Broken[] {
  const { body } = contract;
  const wrong = Object.entries(propertiesOf(body)).flatMap(([field, schema]): Broken[] => {
    const value = wrongValue(schema);
    return value === undefined
      ? []
      : [{ field, ask: { ...ask, body: { ...ask.body, [field]: value } } }];
  });
  const missing = requiredOf(body).map((field) => {
    const { [field]: _, ...rest } = (ask.body ?? {}) as { [name: string]: unknown };
    return { field, ask: { ...ask, body: rest } };
  });
  return [...wrong, ...missing];
}

function brokenQueries({ contract }: Endpoint, ask: Ask): readonly Broken[] {
  const wrong = Object.entries(propertiesOf(contract.query)).flatMap(([field, schema]) => {
    const { type, maxLength, enum: values } = schema as { [keyword: string]: unknown };
    const isWrong = values !== undefined || (typeof type === 'string' && type !== 'string');
    const value =
      typeof maxLength === 'number' ? 'x'.repeat(maxLength + 1) : isWrong ? 'no such value' : null;
    return value === null
      ? []
      : [{ field, ask: { ...ask, query: { ...ask.query, [field]: value } } }];
  });
  return [...wrong, { field: '*', ask: { ...ask, query: { ...ask.query, surprise: '1' } } }];
}

const brokenHeaders = (ask: Ask): readonly Broken[] => [
  {
    field: 'X-Service-Consistency',
    ask: { ...ask, headers: { ...ask.headers, 'x-service-consistency': 'no token' } },
  },
  {
    field: 'X-Service-App-Id',
    ask: { ...ask, headers: { ...ask.headers, 'x-service-app-id': 'x'.repeat(129) } },
  },
];

it('errors 29 every refused request names its field', async () => {
  const surprises: string[] = [];
  let refused = 0;
  for (const entry of catalogueOf(world)) {
    const { contract } = entry.endpoint;
    // A server ignores parameters that it does not know (RFC 6749, 3.1 and 3.2), and its errors have another body.
    if (contract.response?.errors === 'oauth' || contract.input?.passedOn === true) continue;
    // The redirect after the sign-in comes from the authorization server, which may add parameters.
    if (contract.name === 'finish_page_sign_in') continue;
    const ask = await entry.sample.ask(world);
    const broken = [
      ...brokenBodies(entry.endpoint, ask),
      ...brokenQueries(entry.endpoint, ask),
      ...brokenHeaders(ask),
    ];
    for (const each of broken) {
      const surprise = await surpriseAt(entry, each);
      if (surprise === undefined) refused += 1;
      else if (surprise !== 'taken') surprises.push(surprise);
    }
  }
  expect(surprises).toEqual([]);
  expect(refused).toBeGreaterThan(500);
}, 240_000);

async function surpriseAt(
  { endpoint, sample }: Entry,
  { field, ask }: Broken,
): Promise<string | undefined> {
  const as = testCallers(world).find(({ name }) => name === sample.by);
  const { status, text, body } = await send(world, endpoint, ask, { as, tenant: world.a.tenantId });
  if (status < 400) return 'taken';
  const details = [body?.error?.details ?? []].flat() as { readonly field?: string }[];
  const isNamed = details.some(
    (each) => each.field === field || each.field?.split('.')[0] === field || field === '*',
  );
  return status === 400 && isNamed
    ? undefined
    : `${titleOf(endpoint)} with a wrong ${field}: ${status} ${text.slice(0, 300)}`;
}

it('errors 29 each code of a 400 has details in the document', () => {
  const undocumented = world.host.endpoints.flatMap(({ contract }) =>
    contract.response?.errors === 'oauth'
      ? []
      : Object.entries(contract.refusals)
          .filter(([code, status]) => status === 400 && ERROR_DETAILS[code] === undefined)
          .map(([code]) => `${contract.name}: ${code}`),
  );
  expect(undocumented).toEqual([]);
});

it('errors 29 a missing delegation names the endpoint that grants it', async () => {
  const caller = testCallers(world).find(({ name }) => name.includes('agent key'));
  const { status, body } = await world.rest.post(
    '/api/v1/agent/sessions',
    { user_id: world.a.member.userId, services: [{ service_name: 'erp', fields: ['token'] }] },
    {
      bearer: caller?.credentials.bearer,
      tenant: world.a.tenantId,
      headers: { ...caller?.credentials.headers },
    },
  );
  expect({ status, details: body.error.details }).toEqual({
    status: 403,
    details: {
      agent_id: expect.any(String),
      services: [{ service_name: 'erp', fields: ['token'] }],
      endpoint: 'POST /api/v1/me/delegations',
    },
  });
  const [method, path] = body.error.details.endpoint.split(' ');
  const exists = world.host.endpoints.some(
    ({ contract }) => contract.method.toUpperCase() === method && contract.path === path,
  );
  expect(exists).toBe(true);
});
