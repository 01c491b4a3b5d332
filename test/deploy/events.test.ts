/**
 * Pages and schemas for subscribers agree with what the code publishes: they are generated from the
 * contracts.
 */
import { globSync, readFileSync } from 'node:fs';
import specification from '@asyncapi/specs/schemas/3.0.0.json' with { type: 'json' };
import { EVENT_CATALOGUE, type IntegrationEventKind, PERSONAL_DATA } from '@cardea/contracts';
import {
  publishedSchema,
  publishedTopics,
  recordHeaders,
  type Schema,
  subscriberDocuments,
} from '@cardea/documents';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { EVENTS_PAGE, eventsPageText, productVersion } from '../../scripts/events/documents.ts';
import { PROMISES } from '../../scripts/events/markdown.ts';

const documents = subscriberDocuments(productVersion());
const committed = (file: string): string => readFileSync(file, 'utf8');
const events = publishedTopics().flatMap((topic) => topic.events);
const kinds: readonly IntegrationEventKind[] = Object.values(EVENT_CATALOGUE).flatMap(
  ({ kinds: all }) => [...all],
);
const nameOf = ({ source, type }: { readonly source: string; readonly type: string }) =>
  `${source}/${type}`;

describe('Documents for subscribers', () => {
  it('O12 docs/events.md is what `npm run events` makes of the contracts', () => {
    expect(committed(EVENTS_PAGE) === eventsPageText()).toBe(true);
  });

  it('O12 there is a schema for each published event, and one for the headers', () => {
    const made = [...documents.keys()].filter((file) => file.startsWith(SCHEMA_FOLDER));
    const expected = events.map(({ type, schema }) => fileOf(type, schema));
    expect(made.sort()).toEqual([...expected, `${SCHEMA_FOLDER}/headers.v1.json`].sort());
  });

  it.each(PROMISES)('the test that is named for "%s" is there', (_promise, file = '', name) => {
    expect(committed(file)).toContain(`'${name}'`);
  });

  it('each schema is one of JSON Schema 2020-12, and its example fits it', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const { schema, example, type } of events) {
      const file = JSON.parse(documents.get(fileOf(type, schema)) ?? '{}');
      expect(ajv.validateSchema(file), type).toBe(true);
      expect(ajv.validate({ ...file, $id: undefined }, example), type).toBe(true);
    }
  });

  it('each example is what a relay may publish, and stays readable with a field of a later release', () => {
    expect(kinds.map(nameOf).sort()).toEqual(
      events.map(({ service, type }) => `${service}/${type}`).sort(),
    );
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const { service, type, version, schema, example } of events) {
      const kind = kinds.find((one) => nameOf(one) === `${service}/${type}`);
      expect(kind?.version).toBe(version);
      expect(kind?.faults(example), type).toEqual([]);
      expect(ajv.validate(schema, { ...(example as object), later: 1 }), type).toBe(true);
    }
  });

  it('each type says what has happened, and each field what it holds', () => {
    expect(kinds.filter(({ meaning }) => !/^[A-Z].*\.$/.test(meaning)).map(nameOf)).toEqual([]);
    const silent = kinds.flatMap((kind) =>
      silentFields(publishedSchema(kind.schema), nameOf(kind)),
    );
    expect([...silent, ...silentFields(recordHeaders, 'headers')]).toEqual([]);
  });

  it('what names a person is marked so wherever it stands', () => {
    const unmarked = kinds.flatMap((kind) =>
      fieldsIn(publishedSchema(kind.schema), nameOf(kind))
        .filter(({ at }) => NAMES_A_PERSON.test(at))
        .filter(({ schema }) => !/^(erasable|lapsing)$/.test(schema[PERSONAL_DATA] ?? ''))
        .map(({ at }) => at),
    );
    // A tenant's own display name is no personal data.
    expect(unmarked.filter((at) => !at.startsWith('identity/tenant.'))).toEqual([]);
  });
});

describe('The AsyncAPI document', () => {
  const document = parse(documents.get('asyncapi.yaml') ?? '');

  it('follows the schema of AsyncAPI 3.0', () => {
    // The specification includes the schema of schemas.
    const ajv = new Ajv({
      strict: false,
      validateFormats: false,
      meta: false,
      validateSchema: false,
    });
    const follows = ajv.compile(specification);
    expect(follows(document), JSON.stringify(follows.errors?.slice(0, 3))).toBe(true);
    expect(follows({ ...document, channels: { identity: { adress: 'misspelt' } } })).toBe(false);
  });

  it('points at nothing that it does not hold', () => {
    const wrong = references(document).filter(
      (pointer) => resolved(document, pointer) === undefined,
    );
    expect(references(document).length).toBeGreaterThan(events.length);
    expect(wrong).toEqual([]);
  });

  it('holds each published event once, with headers and an example that fit', () => {
    const messages = Object.values<{ readonly [part: string]: unknown }>(
      document.components.messages,
    );
    expect(messages.length).toBe(events.length);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'doc');
    for (const { name, payload, examples } of messages) {
      const [example] = examples as [{ headers: object; payload: object }];
      const context = { $ref: 'doc#/components/schemas/context' };
      const schema = payload as Schema;
      const whole = { ...schema, properties: { ...schema.properties, context } };
      expect(ajv.validate(whole, example.payload), String(name)).toBe(true);
      expect(ajv.validate(recordHeaders, example.headers), String(name)).toBe(true);
    }
  });
});

describe('What relays map', () => {
  /** Dotted words in the sources of relays: all of them are event types. */
  const mapped = new Set(
    ['identity', 'authz', 'vault', 'approval', 'webhook-dispatcher', 'audit-projector'].flatMap(
      (service) => {
        const source = { 'webhook-dispatcher': 'webhooks', 'audit-projector': 'audit' }[service];
        const files = globSync(`services/${service}/src/**/*relay.ts`);
        const named = files.flatMap((file) => typesNamedIn(committed(file)));
        // The relay of every service maps refusals before it calls the service's own mapper.
        const refusals = typesNamedIn(committed('packages/service/src/denials.ts'));
        return [...named, ...refusals].map((type) => `${source ?? service}/${type}`);
      },
    ),
  );

  it('is declared, or it could not be published', () => {
    const declared = new Set(kinds.map(nameOf));
    expect([...mapped].filter((name) => !declared.has(name))).toEqual([]);
  });

  it('is all that is declared', () => {
    expect(kinds.map(nameOf).filter((name) => !mapped.has(name))).toEqual([]);
  });
});

const SCHEMA_FOLDER = 'schemas';
const NAMES_A_PERSON = /\/(email|display_name|ip|ip_address|user_agent)$/;

const fileOf = (type: string, of: Schema): string => {
  const event = events.find((one) => one.type === type && one.schema === of);
  return `${SCHEMA_FOLDER}/${event?.service}/${type}.v${event?.version}.json`;
};

const typesNamedIn = (source: string): readonly string[] =>
  [...source.matchAll(/'([a-z][a-z_]*(?:\.[a-z][a-z_]*)+)'/g)].map(([, type = '']) => type);

const fieldsIn = (schema: Schema, at: string): readonly { at: string; schema: Schema }[] => [
  ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
    { at: `${at}/${name}`, schema: inner },
    ...fieldsIn(inner, `${at}/${name}`),
  ]),
  ...(schema.items === undefined ? [] : fieldsIn(schema.items, at)),
];

const silentFields = (schema: Schema, at: string): readonly string[] =>
  fieldsIn(schema, at)
    .filter((field) => !/^\S.*\.$/.test(field.schema.description ?? ''))
    .map((field) => field.at);

const references = (node: unknown): readonly string[] => {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' ? [String(value)] : references(value),
  );
};

const resolved = (document: unknown, pointer: string): unknown =>
  pointer
    .replace(/^#\//, '')
    .split('/')
    .reduce((node: unknown, key) => (node as { [key: string]: unknown })?.[key], document);
