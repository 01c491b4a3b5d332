import { describe, expect, it } from 'vitest';
import { approvalCalls } from './approval-calls.ts';
import { authzCalls } from './authz-calls.ts';
import { identityCalls } from './identity-calls.ts';
import type { Ask, InternalCall } from './internal-call.ts';

const all: readonly InternalCall[] = [identityCalls, approvalCalls, authzCalls].flatMap((calls) =>
  Object.values(calls),
);
const fieldsOf = ({ params, query, body }: InternalCall): readonly string[] =>
  [params, query, body].flatMap((schema) => Object.keys(schema?.properties ?? {}));

type Facts = Ask<(typeof identityCalls)['facts']>;
type Consume = Ask<(typeof approvalCalls)['consume']>;
const use = { tenant_id: 't', agent_id: 'a', digest: 'd', grant_id: 'g' };

/** Compiled but never run. The compiler has to refuse each marked line. */
const refusedByTheCompiler = (facts: Facts, consume: Consume) => [
  // @ts-expect-error: the tenant is missing.
  facts({ agentId: 'bot' }),
  // @ts-expect-error: the parameter of the path is missing.
  consume(use),
  // @ts-expect-error: the contract has no such field.
  consume({ ...use, id: 'r', until: 'then' }),
  consume({ ...use, id: 'r' }).then((answer) => {
    switch (answer.outcome) {
      case 'consumed':
        return answer.use_before;
      // @ts-expect-error: the contract has no such outcome.
      case 'postponed':
        return '';
      default:
        // @ts-expect-error: the other outcomes have no such field.
        return answer.use_before;
    }
  }),
  // @ts-expect-error: the response lacks a field of its outcome.
  (): ReturnType<Consume> => Promise.resolve({ outcome: 'consumed', again: true }),
];

describe('calls between services', () => {
  it('are compiled only where both sides keep to the contract', () => {
    expect(refusedByTheCompiler).toBeTypeOf('function');
  });

  it.each(all.map((call) => [call.name, call] as const))('%s says each field once', (_, call) => {
    const fields = fieldsOf(call);
    expect(new Set(fields).size).toBe(fields.length);
    const inPath = [...call.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(call.params?.properties ?? {})).toEqual(inPath);
    if (call.tenantField !== undefined) {
      expect(fields).toContain(call.tenantField);
      expect(call.refusals).toHaveProperty('tenant_mismatch', 401);
    }
  });

  it('have a name and a route of their own', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    expect(new Set(all.map(({ path }) => path)).size).toBe(all.length);
  });
});
