import { readJson } from '@cardea/http';
import { expect, it } from 'vitest';
import { FieldName } from './service-shape.ts';

const { pattern } = FieldName as unknown as { readonly pattern: string };
const NAMES = ['constructor', 'prototype', '__proto__', 'constructors', 'prototype_id', 'api_key'];

it.each(NAMES)('a field may be named %s exactly if a body may give it a secret', (name) => {
  const reading = readJson(Buffer.from(JSON.stringify(Object.fromEntries([[name, 'x']]))));
  const takesSecret = 'value' in reading && Object.hasOwn(reading.value as object, name);
  expect(new RegExp(pattern).test(name)).toBe(takesSecret);
});
