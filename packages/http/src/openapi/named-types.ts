/**
 * Schemas with a name (`title`) are defined once, under `components.schemas`, and referenced wherever they
 * are used. One name has one schema.
 */
import { fieldDescription } from './fields/field-description.ts';

export type Json = { [key: string]: unknown };

export class NamedTypes {
  readonly #schemas = new Map<string, Json>();

  /**
   * The schema with references instead of its named parts. With `name`, returns a reference to it if it has no name of
   * its own. `owner` is the named type or the operation that it is a part of.
   */
  take(schema: Json, name?: string, owner?: string): Json {
    const title = typeof schema['title'] === 'string' ? schema['title'] : name;
    const parts = this.#parts(schema, title ?? owner);
    return title === undefined ? parts : this.#refer(title, parts);
  }

  /** Schemas by name. */
  all(): { readonly [name: string]: Json } {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #refer(name: string, { title: _, default: preset, ...schema }: Json): Json {
    const known = this.#schemas.get(name);
    if (known === undefined) this.#schemas.set(name, schema);
    else if (JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two shapes are called ${name}`);
    }
    // A default belongs to the use, not to the type.
    const beside = preset === undefined ? {} : { default: preset };
    return { $ref: `#/components/schemas/${name}`, ...beside };
  }

  #parts(schema: Json, owner: string | undefined): Json {
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [
        keyword,
        this.#part(keyword, value, owner),
      ]),
    );
  }

  #part(keyword: string, value: unknown, owner: string | undefined): unknown {
    if (MAPS.has(keyword)) {
      return Object.fromEntries(
        Object.entries(value as Json).map(([name, sub]) => {
          const taken = this.take(sub as Json, undefined, owner);
          return [name, keyword === 'properties' ? described(taken, owner, name) : taken];
        }),
      );
    }
    if (LISTS.has(keyword)) return (value as Json[]).map((sub) => this.take(sub, undefined, owner));
    const isSchema = ONES.has(keyword) && typeof value === 'object' && value !== null;
    return isSchema ? this.take(value as Json, undefined, owner) : value;
  }
}

/** Adds the field's description before the schema's own, which says for example how long a text may be. */
export function described(schema: Json, owner: string | undefined, field: string): Json {
  const meaning = fieldDescription(owner, field);
  // An empty schema is a condition on another one and describes no field.
  if (meaning === undefined || Object.keys(schema).length === 0) return schema;
  const { description: own, ...rest } = schema;
  if (typeof own !== 'string') return { ...rest, description: meaning };
  return { ...rest, description: OF_LENGTH.test(own) ? `${meaning} ${own}` : own };
}

const OF_LENGTH = /^At most \d+ bytes/;
const MAPS = new Set(['properties', 'patternProperties']);
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const ONES = new Set(['items', 'additionalProperties', 'not']);

/** Converts `create_agent_key` to `CreateAgentKey`. */
export const pascal = (name: string): string =>
  name
    .split('_')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase()}`)
    .join('');
