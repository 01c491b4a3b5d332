import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { formBody, propertyOf, textOfValue } from './form-body.ts';

const body = Type.Object({
  name: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  count: Type.Optional(Type.Integer()),
  isOn: Type.Optional(Type.Boolean()),
  tags: Type.Optional(Type.Array(Type.String())),
  extra: Type.Optional(Type.Object({}, { additionalProperties: true })),
  rules: Type.Optional(Type.Object({ depth: Type.Integer() })),
  secret: Type.String(),
  until: Type.Optional(Type.String({ format: 'date-time' })),
});
const of = (method: 'patch' | 'post') => ({ contract: { method, body } }) as never;
const FIELDS = ['name', 'count', 'isOn', 'tags', 'extra', 'rules.depth'].map((name) => ({ name }));
const SECRET = { name: 'secret', kind: 'password' } as const;

const bodyOf = (typed: { [field: string]: string }, method: 'patch' | 'post' = 'post') =>
  formBody(of(method), [...FIELDS, SECRET], typed);

describe('what was typed into a form', () => {
  it('is read by the schema of the body', () => {
    const typed = {
      name: ' Ada ',
      count: '7',
      isOn: 'true',
      tags: ' a\r\n\n b ',
      extra: '{"a":1}',
      'rules.depth': '2',
      secret: ' spaces belong to it ',
    };
    expect(bodyOf(typed)).toEqual({
      name: 'Ada',
      count: 7,
      isOn: true,
      tags: ['a', 'b'],
      extra: { a: 1 },
      rules: { depth: 2 },
      secret: ' spaces belong to it ',
    });
  });

  it('is absent where it is empty, but for a box; a change clears what may be null', () => {
    expect(bodyOf({})).toEqual({ isOn: false });
    expect(bodyOf({ name: '  ' }, 'patch')).toEqual({ isOn: false, name: null });
  });

  it('is left for the endpoint to refuse where it cannot be read', () => {
    expect(bodyOf({ count: 'many', extra: '{', isOn: 'perhaps' })).toEqual({
      count: 'many',
      extra: '{',
      isOn: 'perhaps',
    });
  });
});

describe('a time', () => {
  const until = { name: 'until', kind: 'time' } as const;
  const read = (text: string) => formBody(of('post'), [until], { until: text });

  it('is typed to the minute, in UTC, and shown as it was typed', () => {
    expect(read('2026-12-24T18:30')).toEqual({ until: '2026-12-24T18:30:00.000Z' });
    expect(textOfValue('2026-12-24T18:30:00.000Z', 'time')).toBe('2026-12-24T18:30');
    expect(textOfValue(null, 'time')).toBe('');
  });

  it.each(['2026-12-24T18:30:00+02:00', '2026-12-24', '2026-13-40T99:00', 'soon'])(
    'is left for the endpoint to read or refuse: %s',
    (text) => {
      expect(read(text)).toEqual({ until: text });
    },
  );
});

describe('a field of a schema', () => {
  it('is found without the null that it may take, and by its path', () => {
    expect(propertyOf(of('post'), 'name')).toMatchObject({ isNullable: true, isRequired: false });
    expect(propertyOf(of('post'), 'secret')).toMatchObject({ isNullable: false, isRequired: true });
    expect(propertyOf(of('post'), 'rules.depth').property).toMatchObject({ type: 'integer' });
    expect(propertyOf(of('post'), 'unheard.of').property).toEqual({});
  });

  it.each([
    [null, ''],
    [undefined, ''],
    [false, ''],
    [true, 'true'],
    [7, '7'],
    [['a', 'b'], 'a\nb'],
    [{ a: 1 }, '{"a":1}'],
  ])('shows %j as %j', (value, text) => {
    expect(textOfValue(value)).toBe(text);
  });
});
