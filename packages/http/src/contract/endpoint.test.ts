import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { endpoint } from './endpoint.ts';

const common = {
  name: 'vend',
  summary: 'A test.',
  tag: 'Vault',
  method: 'post',
  path: '/vend',
  tenant: 'required',
} as const;
const shapes = {
  ok: Type.Object({ value: Type.String() }),
  refusals: { no_capability: 401 },
} as const;

/** Compiled but never run. The compiler has to refuse each marked line. */
const refusedByTheCompiler = () => [
  endpoint(
    { ...common, ...shapes, who: ['agent_key'] },
    {
      authorize: async () => ({ authorized: { sessionId: 'one' } }),
      // @ts-expect-error: `authorize` returns no such field.
      handle: async (_request, { keyId }) => ({ ok: { value: String(keyId) } }),
    },
  ),
  endpoint(
    // @ts-expect-error: `authorize` refuses with a code that the contract does not have.
    { ...common, ...shapes, who: ['agent_key'] },
    {
      authorize: async () => ({ refused: 'too_late' }),
      handle: async () => ({ ok: { value: '' } }),
    },
  ),
  endpoint(
    {
      ...common,
      ...shapes,
      access: { class: 'things', applicationScope: 'any' },
      who: ['agent_key', 'user'],
    },
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
    // @ts-expect-error: an endpoint that accepts users states its class.
    { ...common, ...shapes, who: ['user'] },
    async () => ({ ok: { value: '' } }),
  ),
  endpoint(
    {
      ...common,
      ...shapes,
      who: ['api_key:fga:read', 'admin'],
      machine: 'any',
      // @ts-expect-error: things state the scope that an application needs.
      access: { class: 'things' },
    },
    async () => ({ ok: { value: '' } }),
  ),
  endpoint(
    // @ts-expect-error: settings state whose tokens must have a recent sign-in.
    { ...common, ...shapes, who: ['user'], access: { class: 'settings' } },
    async () => ({ ok: { value: '' } }),
  ),
  endpoint(
    {
      ...common,
      ...shapes,
      who: ['admin'],
      machine: 'never',
      access: {
        class: 'settings',
        // @ts-expect-error: no application changes settings by the scope `roles`.
        applicationScope: 'roles',
        stepUp: 'users',
      },
    },
    async () => ({ ok: { value: '' } }),
  ),
  endpoint(
    // @ts-expect-error: an endpoint that accepts a role states what a machine may do.
    { ...common, ...shapes, who: ['admin'], access: { class: 'settings', stepUp: 'users' } },
    async () => ({ ok: { value: '' } }),
  ),
  endpoint(
    // @ts-expect-error: an endpoint that accepts an API key states it too.
    { ...common, ...shapes, who: ['api_key:fga:read'] },
    async () => ({ ok: { value: '' } }),
  ),
  endpoint(
    // @ts-expect-error: no machine has such a scope.
    { ...common, ...shapes, who: ['api_key:fga:read'], machine: 'fga:everything' },
    async () => ({ ok: { value: '' } }),
  ),
  endpoint(
    {
      ...common,
      ...shapes,
      who: 'anyone',
      response: { others: { 202: Type.Object({ id: Type.String() }) } },
    },
    // @ts-expect-error: the result fits neither of the two successes.
    async () => ({ ok: { id: 7 }, status: 202 }),
  ),
];

describe('an endpoint', () => {
  it('P2 is compiled only if authorization, handler and contract agree', () => {
    expect(refusedByTheCompiler).toBeTypeOf('function');
  });

  it('gives its handler what its authorization found, and the callers that its contract takes', async () => {
    const { handle, contract } = endpoint(
      {
        ...common,
        ...shapes,
        access: { class: 'things', applicationScope: 'any' },
        who: ['admin', 'agent_token', 'api_key:fga:read'],
        machine: 'any',
      },
      {
        authorize: async ({ principal }) => ({ authorized: { of: principal.tenantId } }),
        handle: async ({ principal }, { of }) => {
          switch (principal.kind) {
            case 'user':
              return { ok: { value: `${principal.roles} of ${of}` } };
            case 'agent':
              return { ok: { value: `${principal.via} of ${of}` } };
            case 'api_key':
            case 'client':
              return { ok: { value: `${principal.scopes} of ${of}` } };
          }
        },
      },
    );
    const principal = { kind: 'user', roles: ['admin'] };
    expect(await handle({ principal } as never, { of: 't1' })).toEqual({
      ok: { value: 'admin of t1' },
    });
    expect(contract.name).toBe('vend');
  });

  it('requires a tenant and tells agents that a user is required, unless its contract says otherwise', () => {
    const { tenant: _tenant, ...bare } = common;
    const access = { class: 'things', applicationScope: 'any' } as const;
    const own = { ...bare, ...shapes, access } as const;
    const done = async () => ({ ok: { value: '' } });
    const { contract } = endpoint({ ...own, who: ['user'] }, done);
    expect(contract).toMatchObject({
      tenant: 'required',
      notTaken: { agent: { status: 401, code: 'user_session_required' } },
    });
    const shared = endpoint({ ...own, who: ['user', 'agent_token'], tenant: 'optional' }, done);
    expect(shared.contract).toMatchObject({ tenant: 'optional' });
    expect(shared.contract.notTaken).toBeUndefined();
  });
});
