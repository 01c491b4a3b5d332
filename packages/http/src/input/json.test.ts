import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  JSON_DEPTH_MAX,
  JSON_ELEMENTS_MAX,
  JSON_KEYS_MAX,
  JSON_STRUCTURE_MAX_BYTES,
  type JsonFault,
  type JsonReading,
  JsonScan,
  readJson,
} from './json.ts';

const read = (text: string): JsonReading => readJson(Buffer.from(text));
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const keys = (count: number) =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":0`).join(',')}}`;
const items = (count: number) => `[${Array(count).fill(0).join()}]`;
const FUZZ_RUNS = 5_000;
/** Small, so that random texts exceed it. */
const KEYS_MAX = 3;

describe('reading JSON', () => {
  it.each([
    ['{"a":1,"b":[true,null,"x"]}', { a: 1, b: [true, null, 'x'] }],
    [' "\\u00e9 \\" { : [" ', 'é " { : ['],
    ['"\\\\"', '\\'],
    ['{"a:b":"c:d,\\"e\\":1"}', { 'a:b': 'c:d,"e":1' }],
    ['"\\ud83d\\ude00"', '😀'],
    [nested(JSON_DEPTH_MAX), JSON.parse(nested(JSON_DEPTH_MAX))],
    [keys(JSON_KEYS_MAX), JSON.parse(keys(JSON_KEYS_MAX))],
    [items(JSON_ELEMENTS_MAX), Array(JSON_ELEMENTS_MAX).fill(0)],
    ['{"a":{"x":1},"b":{"x":1}}', { a: { x: 1 }, b: { x: 1 } }],
  ])('S6 takes %s', (text, value) => {
    expect(read(text)).toEqual({ value });
  });

  it.each([
    ['syntax', ''],
    ['syntax', '{'],
    ['syntax', '{"a":1,}'],
    ['syntax', "{'a':1}"],
    ['syntax', '{"a":1} x'],
    ['syntax', '"raw \u0000"'],
    ['syntax', '"raw \n"'],
    ['syntax', '01'],
    ['syntax', 'NaN'],
    ['syntax', '\ufeff{}'],
    ['syntax', '"never ends'],
    ['syntax', '"ends in a backslash \\'],
    ['depth', nested(JSON_DEPTH_MAX + 1)],
    ['depth', '['.repeat(100_000)],
    ['depth', '{"a":'.repeat(500)],
    ['too_many_keys', keys(JSON_KEYS_MAX + 1)],
    ['duplicate_key', '{"a":1,"a":2}'],
    ['duplicate_key', '{"a":1,"\\u0061":2}'],
    ['duplicate_key', '{"x":[{"a":{"b":1},"a":1}]}'],
    ['forbidden_key', '{"__proto__":{"admin":true}}'],
    ['forbidden_key', '{"a":{"constructor":1}}'],
    ['forbidden_key', '{"a":[{"prototype":1}]}'],
    ['forbidden_key', '{"\\u005f_proto__":1}'],
    ['nul', '"a\\u0000b"'],
    ['nul', '{"a\\u0000":1}'],
    ['lone_surrogate', '"\\ud800"'],
    ['lone_surrogate', '["\\udc00\\ud800"]'],
    ['lone_surrogate', '{"\\ud800":1}'],
    ['number_range', '1e999'],
    ['number_range', '[-1e999]'],
  ])('S6 refuses by the rule %s: %.40s', (fault, text) => {
    expect(read(text)).toEqual({ fault });
  });

  it.each([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]])(
    'S6 refuses bytes that are no UTF-8: %i',
    (...bytes) => {
      expect(readJson(Buffer.from([0x22, ...bytes, 0x22]))).toEqual({ fault: 'utf8' });
    },
  );

  const LARGE_BYTES = 8 * 1024 * 1024;
  const pairs = `[${Array(JSON_ELEMENTS_MAX).fill('[0]').join()}]`;
  it.each([
    ['too_many_elements', items(JSON_ELEMENTS_MAX + 1)],
    ['too_many_elements', pairs],
    ['too_many_elements', `{"a":${items(JSON_ELEMENTS_MAX)},"b":[0]}`],
    ['too_many_elements', '[],'.repeat(LARGE_BYTES / 3)],
    ['too_many_elements', '[0,'.repeat(20) + '0,'.repeat(LARGE_BYTES / 2)],
    ['too_much_structure', ' '.repeat(JSON_STRUCTURE_MAX_BYTES + 1)],
    ['too_much_structure', '1'.repeat(LARGE_BYTES)],
    ['too_much_structure', '""'.repeat(LARGE_BYTES / 2)],
  ])('C3 refuses by the rule %s: %.20s', (fault, text) => {
    expect(read(text)).toEqual({ fault });
  });

  it('C3 takes a large text of long strings, and more keys where a contract has more', () => {
    const long = { a: 'x'.repeat(LARGE_BYTES), b: '\u00e9"\\'.repeat(1_000) };
    expect(read(JSON.stringify(long))).toEqual({ value: long });
    const many = keys(JSON_KEYS_MAX + 1);
    expect(readJson(Buffer.from(many), JSON_KEYS_MAX + 1)).toEqual({ value: JSON.parse(many) });
  });

  it('F2 takes what JSON.stringify writes, but for forbidden keys', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value);
        const got = read(text);
        if ('fault' in got) expect(['forbidden_key', 'nul', 'lone_surrogate']).toContain(got.fault);
        else expect(JSON.stringify(got.value)).toBe(text);
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  it('F2 C3 sees the same in the parts of a text as in the whole', () => {
    const pieces = fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', '\\"', 'a', '0', ' ');
    const texts = fc.array(fc.array(pieces, { minLength: 1 }).map((some) => some.join('')));
    fc.assert(
      fc.property(texts, (parts) => {
        const [whole, inParts] = [new JsonScan(KEYS_MAX), new JsonScan(KEYS_MAX)];
        const expected = whole.add(parts.join(''));
        let fault: JsonFault | undefined;
        for (const part of parts) fault ??= inParts.add(part);
        expect(fault).toBe(expected);
        if (expected === undefined) expect(inParts.keys).toBe(whole.keys);
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  it('F2 answers every text and every byte, and never takes what JSON.parse refuses', () => {
    const pieces = fc.constantFrom(
      ...['{', '}', '[', ']', '"', ':', ',', '\\', '\\u0000', '\\ud800', 'a', '0', '-', '1e9', ' '],
      ...['"a"', '"__proto__"', 'true', 'null', '\n', '\u0000', '\ufeff', '\\"', '\\\\', 'é'],
    );
    const texts = fc.array(pieces, { maxLength: 40 }).map((parts) => Buffer.from(parts.join('')));
    const bytes = fc.uint8Array({ maxLength: 40 }).map((part) => Buffer.from(part));
    fc.assert(
      fc.property(fc.oneof(texts, bytes), (input) => {
        const got = readJson(input);
        if ('value' in got) expect(got.value).toEqual(JSON.parse(input.toString()));
        else expect(got.fault).toMatch(/^[a-z_0-9]+$/);
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  it('F2 sees a duplicate wherever one is put', () => {
    const objects = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 3 }), {
      minKeys: 1,
    });
    fc.assert(
      fc.property(objects, fc.nat(), (object, at) => {
        const members = Object.entries(object).map(
          ([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`,
        );
        const doubled = [...members, members[at % members.length]];
        expect(read(`{${doubled.join(',')}}`)).toHaveProperty('fault');
      }),
      { numRuns: 1_000 },
    );
  });

  it('writes equal values as equal texts, whatever the order of their keys', () => {
    expect(canonicalJson({ b: [1, { d: 1, c: undefined }], a: 'x' })).toBe(
      '{"a":"x","b":[1,{"d":1}]}',
    );
  });
});
