/** Fields that are named as ids and keep their case; a new one is seen in review. */
import { catalogue } from '@cardea/http';
import { expect, it } from 'vitest';
import { product } from '../../scripts/gateway/files.ts';

const { common, services } = await product();
const endpoints = catalogue([...common, ...services.flatMap((each) => each.endpoints)]);

type Schema = { readonly [keyword: string]: unknown };
const isSchema = (value: unknown): value is Schema => value !== null && typeof value === 'object';

/** Paths of the properties that are marked. */
function exactIn(schema: unknown, path: string): readonly string[] {
  if (!isSchema(schema)) return [];
  const own = schema['exactText'] === true ? [path] : [];
  const properties = Object.entries((schema['properties'] ?? {}) as Schema);
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => (schema[name] ?? []) as unknown[]);
  return [
    ...own,
    ...properties.flatMap(([name, sub]) => exactIn(sub, `${path}.${name}`)),
    ...[schema['items'], ...parts].flatMap((sub) => exactIn(sub, path)),
  ];
}

it('lets nothing but foreign ids and those of a tenant’s own objects keep their case', () => {
  const exact = endpoints.flatMap(({ contract: { path, params, query, body } }) =>
    [exactIn(params, 'params'), exactIn(query, 'query'), exactIn(body, 'body')]
      .flat()
      .map((field) => (path.startsWith('/api/v1/fga/') ? '/api/v1/fga' : field)),
  );
  expect([...new Set(exact)].toSorted()).toEqual([
    '/api/v1/fga',
    // The id of a passkey is base64url.
    'body.response.id',
    // The id that a provider assigned.
    'body.settings.social.github.client_id',
    'body.settings.social.google.client_id',
    'body.settings.social.microsoft.client_id',
    // It may be an object of a tenant's own model, so the handler searches for both forms.
    'query.target_id',
  ]);
});

/** Names of ids below keywords into which the reader of ids does not look. */
function unreadIn(schema: unknown, isRead: boolean, path: string): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap((sub) => unreadIn(sub, isRead, path));
  if (!isSchema(schema)) return [];
  const names = Object.entries((schema['properties'] ?? {}) as Schema);
  const unread = isRead ? [] : names.filter(([name]) => /(?:^|_)ids?$/.test(name));
  return [
    ...unread.map(([name]) => `${path}.${name}`),
    ...names.flatMap(([name, sub]) => unreadIn(sub, isRead, `${path}.${name}`)),
    ...READ.flatMap((keyword) => unreadIn(schema[keyword], isRead, path)),
    ...MAPS.flatMap((keyword) => {
      const map = schema[keyword];
      const inside = keyword === 'additionalProperties' ? [map] : Object.values(map ?? {});
      return unreadIn(inside, false, `${path}.*`);
    }),
  ];
}
const READ = ['items', 'anyOf', 'oneOf', 'allOf'];
const MAPS = ['patternProperties', 'additionalProperties', '$defs', 'not', 'prefixItems'];

it('finds no ids where the reader of ids does not look', () => {
  const unread = endpoints.flatMap(({ contract: { name, params, query, body } }) =>
    [params, query, body].flatMap((schema) => unreadIn(schema, true, name)),
  );
  expect(unread).toEqual([]);
});
