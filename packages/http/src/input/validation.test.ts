import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { bodyValidator, stringsValidator } from './validation.ts';

const schema = Type.Object({
  name: Type.String({ minLength: 1, maxBytes: 8 }),
  kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
  fields: Type.Optional(Type.Array(Type.Object({ id: Type.String({ format: 'uuid' }) }))),
  settings: Type.Optional(Type.Record(Type.String(), Type.Number())),
  open: Type.Optional(Type.Object({}, { additionalProperties: true })),
  both: Type.Optional(
    Type.Intersect([Type.Object({ x: Type.Number() }), Type.Object({ y: Type.Number() })]),
  ),
});
const check = bodyValidator(schema);
const faults = (input: unknown) => {
  const got = check(input);
  return 'faults' in got ? got.faults : 'valid';
};
const fault = (field: string, rule: string) => [{ field, rule }];

describe('validation', () => {
  it.each([
    [
      { name: 'x', kind: 'b', settings: { canary: 1 }, open: { canary: 1 }, both: { x: 1, y: 2 } },
      'valid',
    ],
    [{ name: 'ééééé' }, fault('name', 'max_bytes')],
    [{ name: '' }, [{ field: 'name', rule: 'min_length', limit: 1 }]],
    [{}, fault('name', 'required')],
    [{ name: 1 }, fault('name', 'type')],
    [{ name: 'x', canary: 1 }, fault('body', 'unknown_field')],
    [{ name: 'x', kind: 'canary' }, [{ field: 'kind', rule: 'enum', allowed: ['a', 'b'] }]],
    [
      { kind: 1, fields: [{ id: 'canary' }, {}], settings: { canary: 'y' } },
      [
        ...fault('name', 'required'),
        { field: 'kind', rule: 'enum', allowed: ['a', 'b'] },
        ...fault('fields.0.id', 'format'),
        ...fault('settings.*', 'type'),
      ],
    ],
    [{ name: 'x', fields: [{ id: 'canary' }] }, fault('fields.0.id', 'format')],
    [{ name: 'x', fields: [{}] }, fault('fields.0.id', 'required')],
    [
      { name: 'x', fields: [{ id: '0190b3a0-0000-7000-8000-000000000000', canary: 1 }] },
      fault('fields.0', 'unknown_field'),
    ],
    [{ name: 'x', settings: { canary: 'y' } }, fault('settings.*', 'type')],
    [{ name: 'x', both: { x: 1, y: 2, canary: 3 } }, fault('both', 'unknown_field')],
    [[], fault('body', 'type')],
    [null, fault('body', 'type')],
    ['canary', fault('body', 'type')],
  ])('S4 S6 says of %j: %j', (input, wanted) => {
    expect(faults(input)).toEqual(wanted);
    expect(JSON.stringify(faults(input))).not.toContain('canary');
  });

  it('turns strings into what a query asks for, and only in their plain form', () => {
    const query = stringsValidator(
      Type.Object({
        limit: Type.Integer({ minimum: 1, maximum: 1000, default: 50 }),
        open: Type.Optional(Type.Boolean()),
        name: Type.Optional(Type.String()),
      }),
    );
    expect(query({ limit: '7', open: 'false', name: '12' })).toEqual({
      value: { limit: 7, open: false, name: '12' },
    });
    expect(query({})).toEqual({ value: { limit: 50 } });
    for (const limit of [
      '0x10',
      '1e2',
      '',
      ' 5',
      '+5',
      '5.5',
      '1001',
      '0',
      '99999999999999999999',
    ]) {
      expect(query({ limit })).toHaveProperty('faults');
    }
    expect(query({ open: '1' })).toHaveProperty('faults');
  });
});
