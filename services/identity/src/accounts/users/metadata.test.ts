import { describe, expect, it } from 'vitest';
import { type Metadata, mergeMetadata, metadataFault } from './metadata.ts';

describe('metadata of a user', () => {
  it.each<[string, Metadata, Metadata | null, Metadata]>([
    ['a new name', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ['a name that is there', { a: 1 }, { a: 'x' }, { a: 'x' }],
    ['null for a name', { a: 1, b: 2 }, { a: null }, { b: 2 }],
    ['null for one that is absent', { a: 1 }, { b: null }, { a: 1 }],
    ['an object inside', { a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
    ['an object in place of a value', { a: [1] }, { a: { b: { c: null } } }, { a: { b: {} } }],
    ['a list', { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ['null for the whole', { a: 1 }, null, {}],
  ])('standards 8 is merged as RFC 7396 says: %s', (_, before, patch, after) => {
    expect(mergeMetadata(before, patch)).toEqual(after);
  });

  const nested = (levels: number): Metadata => (levels === 1 ? {} : { a: nested(levels - 1) });
  const named = (count: number): Metadata =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
  it.each<[string, Metadata, string | undefined]>([
    ['4 KiB', { a: 'x'.repeat(4_096 - 8) }, undefined],
    ['one byte more', { a: 'x'.repeat(4_096 - 7) }, 'too_large'],
    ['more bytes than characters', { a: 'é'.repeat(2_045) }, 'too_large'],
    ['five levels', nested(5), undefined],
    ['six levels', nested(6), 'too_deep'],
    ['six levels of lists', { a: [[[[[]]]]] }, 'too_deep'],
    ['fifty names', named(50), undefined],
    ['one name more', named(51), 'too_many_keys'],
    ['one name more inside', { a: named(50) }, 'too_many_keys'],
    ['a name of every object', JSON.parse('{"a": {"__proto__": 1}}'), 'reserved_key'],
    ['names in lists', { a: [{ constructor: 1 }] }, 'reserved_key'],
  ])('standards 8 is bounded: %s', (_, metadata, fault) => {
    expect(metadataFault(metadata)).toBe(fault);
  });
});
