import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { endpoint } from './endpoint.ts';

const common = {
  name: 'vend',
  summary: 'A test.',
  tag: 'Test',
  method: 'post',
  path: '/vend',
  tenant: 'required',
  area: 'vault',
} as const;
const shapes = {
  ok: Type.Object({ value: Type.String() }),
  refusals: { no_capability: 401 },
} as const;

/** Compiled and never run: the compiler has to refuse each line that is marked. */
const refusedByTheCompiler = () => [
  endpoint(
    { ...common, ...shapes, who: ['agent_key'] },
    async () => ({ authorized: { sessionId: 'one' } }),
    // @ts-expect-error: `authorize` returns no such field.
    async (_request, { keyId }) => ({ ok: { value: String(keyId) } }),
  ),
  endpoint(
    // @ts-expect-error: `authorize` refuses with a code that the contract does not have.
    { ...common, ...shapes, who: ['agent_key'] },
    async () => ({ refused: 'too_late' }),
    async () => ({ ok: { value: '' } }),
  ),
  endpoint(
    { ...common, ...shapes, applicationScope: 'any', who: ['agent_key', 'user'] },
    async ({ principal }) => {
      // @ts-expect-error: the caller may be an agent, which has no e-mail address.
      return { ok: { value: principal.email ?? '' } };
    },
  ),
  endpoint({ ...common, ...shapes, who: 'anyone' }, async ({ principal }) => {
    // @ts-expect-error: an endpoint for `anyone` has no principal.
    return { ok: { value: principal.id } };
  }),
  endpoint(
    { ...common, ...shapes, who: 'anyone', otherOk: { 202: Type.Object({ id: Type.String() }) } },
    // @ts-expect-error: neither of the two successes.
    async () => ({ ok: { id: 7 }, status: 202 }),
  ),
];

describe('an endpoint', () => {
  it('is compiled only if authorization, handler and contract agree', () => {
    expect(refusedByTheCompiler).toBeTypeOf('function');
  });

  it('gives its handler what its authorization found, and the callers that its contract takes', async () => {
    const { handle, contract } = endpoint(
      {
        ...common,
        ...shapes,
        applicationScope: 'any',
        who: ['admin', 'agent_token', 'api_key:fga:read'],
      },
      async ({ principal }) => ({ authorized: { of: principal.tenantId } }),
      async ({ principal }, { of }) => {
        switch (principal.kind) {
          case 'user':
            return { ok: { value: `${principal.roles} of ${of}` } };
          case 'agent':
            return { ok: { value: `${principal.via} of ${of}` } };
          case 'api_key':
            return { ok: { value: `${principal.scopes} of ${of}` } };
        }
      },
    );
    const principal = { kind: 'user', roles: ['admin'] };
    expect(await handle({ principal } as never, { of: 't1' })).toEqual({
      ok: { value: 'admin of t1' },
    });
    expect(contract.name).toBe('vend');
  });
});
