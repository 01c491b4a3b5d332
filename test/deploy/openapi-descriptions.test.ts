/** Tests the texts of the OpenAPI document: of each operation, and of each field whose name is not sufficient. */
import { catalogue } from '@cardea/http';
import { describe, expect, it } from 'vitest';
import { documentsOf, product } from '../../scripts/gateway/files.ts';

/** Names that need no description, in every type that has them. */
const SELF_EXPLANATORY = new Set([
  ...['id', 'name', 'display_name', 'description', 'email', 'password', 'url', 'user'],
  ...['city', 'region', 'country', 'created_at', 'updated_at'],
  // Lists that are named after their items, whose type has its own name.
  ...['agents', 'api_keys', 'applications', 'consents', 'deliveries', 'factors', 'invitations'],
  ...['sessions', 'users', 'webhooks'],
]);

type Node = { readonly [keyword: string]: unknown };
const made = await product();
const document = JSON.parse(documentsOf(made).get('openapi.json') ?? '') as {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Node } };
  readonly components: { readonly schemas: { readonly [name: string]: Node } };
};

describe('the descriptions of the OpenAPI document', () => {
  it('O12 cover every operation', () => {
    const silent = [
      ...catalogue(made.common),
      ...made.services.flatMap(({ endpoints }) => catalogue(endpoints)),
    ].filter(({ contract }) => (contract.description ?? '').trim() === '');
    expect(silent.map(({ title }) => title)).toEqual([]);
  });

  it('O12 say who may call an operation, and what each of its refusals means', () => {
    const described = operations().flatMap(({ at, description }) =>
      description === undefined ? [] : [{ at, description }],
    );
    expect(described.length).toBeGreaterThan(0);
    expect(
      described.filter(({ description }) => !description.includes('**Who may call it**')),
    ).toEqual([]);
    const approve = described.find(({ at }) => at === 'POST /api/v1/ciba/requests/{id}/approve');
    expect(approve?.description).toContain(
      '- 409 `request_not_pending`: the request is already decided;',
    );
    // The endpoint accepts agents only to tell them that a person has to decide.
    expect(approve?.description).not.toContain('agents, with');
  });

  it('O12 cover every field whose name does not say all', () => {
    const silent = fields().filter(
      ({ name, described }) => !described && !SELF_EXPLANATORY.has(name),
    );
    expect(silent.map(({ at, name }) => `${at} ${name}`)).toEqual([]);
  });

  it('O12 have no name among the self-explanatory ones that no field has', () => {
    const names = new Set(fields().map(({ name }) => name));
    expect([...SELF_EXPLANATORY].filter((name) => !names.has(name))).toEqual([]);
  });
});

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      at: `${method.toUpperCase()} ${path}`,
      description: operation['description'] as string | undefined,
      operation,
    })),
  );

type Field = { readonly at: string; readonly name: string; readonly described: boolean };

const fields = (): readonly Field[] => [
  ...Object.entries(document.components.schemas).flatMap(([name, schema]) => within(schema, name)),
  ...operations().flatMap(({ at, operation }) => within(operation, at)),
];

/** Properties of schemas, and parameters in path and query; conditions (`if`, `not`) describe nothing. */
function within(node: unknown, at: string): readonly Field[] {
  if (Array.isArray(node)) return node.flatMap((one) => within(one, at));
  if (typeof node !== 'object' || node === null) return [];
  const { properties = {}, parameters = [], ...rest } = node as Node;
  const own = [
    ...Object.entries(properties as { readonly [name: string]: Node }),
    ...(parameters as readonly Node[]).flatMap((one): [string, Node][] =>
      typeof one['name'] === 'string' ? [[one['name'], one]] : [],
    ),
  ];
  return [
    ...own.map(([name, field]) => ({ at, name, described: isDescribed(field) })),
    ...own.flatMap(([, field]) => within(field, at)),
    ...Object.entries(rest).flatMap(([keyword, value]) =>
      NO_SCHEMAS.has(keyword) ? [] : within(value, at),
    ),
  ];
}
const NO_SCHEMAS = new Set(['example', 'examples', 'enum', 'default', 'not', 'if', 'then']);

const isDescribed = ({ description }: Node): boolean =>
  typeof description === 'string' && !/^At most \d+ bytes of UTF-8\.$/.test(description);
