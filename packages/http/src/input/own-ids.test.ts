import { exactText } from '@cardea/contracts';
import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { bodyValidator, stringsValidator } from './validation.ts';

const LOWER = '0198c2f4-8d5e-7c3a-9f21-6b0c4d1e2f3a';
const UPPER = LOWER.toUpperCase();
const text = Type.Optional(Type.String());
const read = bodyValidator(
  Type.Object({
    ...{ id: text, agent_id: text, external_id: Type.Optional(exactText(Type.String())) },
    ...{ name: text, identity: text },
    agent_ids: Type.Optional(
      Type.Union([Type.Literal('*'), Type.Array(Type.String(), { uniqueItems: true })]),
    ),
    approver: Type.Optional(Type.Union([Type.Object({ user_id: Type.String() }), Type.Null()])),
    writes: Type.Optional(
      Type.Array(Type.Object({ object_id: exactText(Type.String()), by_id: text })),
    ),
    metadata: Type.Optional(Type.Object({}, { additionalProperties: true })),
  }),
);

describe('ids of a request', () => {
  it('are read in lower case, at any depth of the schema', () => {
    expect(
      read({
        ...{ id: UPPER, agent_id: UPPER, agent_ids: [UPPER] },
        ...{ approver: { user_id: UPPER }, writes: [{ object_id: UPPER, by_id: UPPER }] },
      }),
    ).toEqual({
      value: {
        ...{ id: LOWER, agent_id: LOWER, agent_ids: [LOWER] },
        ...{ approver: { user_id: LOWER }, writes: [{ object_id: UPPER, by_id: LOWER }] },
      },
    });
  });

  it('keep their case where the schema says so, in other fields, and in free-form maps', () => {
    const body = {
      ...{ external_id: UPPER, name: UPPER, identity: UPPER },
      metadata: { user_id: UPPER, [UPPER]: UPPER },
    };
    expect(read(structuredClone(body))).toEqual({ value: body });
  });

  it('keep their case where they are no UUID', () => {
    const body = { id: 'ABC', agent_ids: [`${UPPER}.2`], agent_id: UPPER.replaceAll('-', '_') };
    expect(read(structuredClone(body))).toEqual({ value: body });
  });

  it('are one id twice where a list may have each once', () => {
    expect(read({ agent_ids: [LOWER, UPPER] })).toMatchObject({ faults: [{ field: 'agent_ids' }] });
  });

  it('of another form than the schema’s are refused by the schema', () => {
    for (const body of [
      { id: [UPPER] },
      { approver: UPPER },
      { writes: { 0: UPPER } },
      UPPER,
      [UPPER],
    ]) {
      expect(read(body)).toHaveProperty('faults');
    }
    expect(read({ id: null })).toHaveProperty('faults');
  });

  it('are read in paths and queries', () => {
    const strings = stringsValidator(Type.Object({ session_id: text, cursor: text }));
    expect(strings({ session_id: UPPER, cursor: UPPER })).toEqual({
      value: { session_id: LOWER, cursor: UPPER },
    });
  });
});
