import Type from 'typebox';
import { expect, test } from 'vitest';
import { nullable } from './fields.ts';
import { type DataOf, integrationEvents } from './integration-event.ts';

const events = integrationEvents('identity', {
  'user.created': Type.Object({
    id: Type.String({ format: 'uuid' }),
    email: nullable(Type.String()),
    nested: Type.Optional(Type.Object({ a: Type.Integer() }, { additionalProperties: false })),
  }),
  'user.moved': [Type.Object({ from: Type.String() }), Type.Object({ to: Type.String() })],
});

const context = { ip: null, user_agent: null, app_id: null, agent_id: null, request_id: 'r' };
const created: DataOf<typeof events, 'user.created'> = {
  id: '0190aaaa-0000-7000-8000-000000000001',
  email: null,
};
const moved: DataOf<typeof events, 'user.moved'> = { to: 'x' };

test('data with its context may be published, and nothing undeclared beside it', () => {
  const kind = events.kind('user.created', 1);
  expect(kind?.mayBePublished({ ...created, context })).toBe(true);
  expect(kind?.mayBePublished(created)).toBe(false);
  expect(kind?.mayBePublished({ ...created, context, password: 'x' })).toBe(false);
  expect(kind?.mayBePublished({ ...created, context: { ...context, more: 1 } })).toBe(false);
  expect(kind?.mayBePublished({ ...created, id: 'not a uuid', context })).toBe(false);
});

test('a reader lets a field of a newer release pass, but not a missing or wrong one', () => {
  const kind = events.kind('user.created', 1);
  expect(kind?.canBeRead({ ...created, context, newer: 1 })).toBe(true);
  expect(kind?.canBeRead({ ...created, nested: { a: 1, newer: 2 }, context })).toBe(true);
  expect(kind?.canBeRead({ ...created, nested: { a: 'x' }, context })).toBe(false);
  expect(kind?.canBeRead({ email: null, context })).toBe(false);
});

test('each version of a type is checked by its own schema', () => {
  expect(events.kind('user.moved', 1)?.mayBePublished({ from: 'x', context })).toBe(true);
  expect(events.kind('user.moved', 2)?.mayBePublished({ ...moved, context })).toBe(true);
  expect(events.kind('user.moved', 2)?.mayBePublished({ from: 'x', context })).toBe(false);
  expect(events.kind('user.moved', 3)).toBeUndefined();
});

test('a consumer gets the data of its type and undefined for others', () => {
  const event = {
    source: 'identity',
    type: 'user.created',
    data: { ...created, context },
  } as never;
  expect(events.dataOf(event, 'user.created')?.email).toBeNull();
  // Called without types, because otherwise the compiler compares the schemas of all versions, which takes seconds.
  const untyped: { dataOf(event: unknown, type: string): unknown } = events as never;
  expect(untyped.dataOf(event, 'user.moved')).toBeUndefined();
});

test('a fault names the place and the rule, never the value', () => {
  const faults = events.kind('user.created', 1)?.faults({ id: 'secret', email: null, context });
  expect(faults).toEqual(['/id format']);
});

test('a type that is not dotted, or declares context itself, is refused at once', () => {
  expect(() => integrationEvents('identity', { UserCreated: Type.Object({}) })).toThrow();
  expect(() =>
    integrationEvents('identity', { 'user.created': Type.Object({ context: Type.String() }) }),
  ).toThrow();
});
