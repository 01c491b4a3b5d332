/** Which endpoints accept a machine: by its scope and, if no API key is accepted, by its role too. */
import { endpoint } from '@cardea/http';
import Type from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type HttpFixture, startHttpFixture } from './http-fixture.ts';

const common = {
  summary: 'Shows who called.',
  tag: 'Development',
  tenant: 'required',
  ok: Type.Object({ seen: Type.Unknown() }),
  refusals: {},
} as const;
const handle = async ({ principal }: { readonly principal: unknown }) => ({
  ok: { seen: principal },
});
const settings = { ...common, access: { class: 'settings', stepUp: 'users' } } as const;
const KEYS = ['admin', 'api_key:users:write'] as const;
const post = { ...settings, method: 'post' } as const;
const endpoints = [
  endpoint(
    { ...post, name: 'role', path: '/role', who: ['admin'], machine: 'users:write' },
    handle,
  ),
  endpoint({ ...post, name: 'key', path: '/key', who: KEYS, machine: 'users:write' }, handle),
  endpoint({ ...post, name: 'never', path: '/never', who: KEYS, machine: 'never' }, handle),
  endpoint({ ...post, name: 'own', path: '/own', who: ['user'] }, handle),
  endpoint(
    {
      ...{ ...common, access: { class: 'things', applicationScope: 'any' }, method: 'post' },
      ...{ name: 'any', path: '/any', who: ['user', 'api_key:fga:read'], machine: 'any' },
    },
    handle,
  ),
];

let fixture: HttpFixture;
let confirmed = 0;
beforeAll(async () => {
  fixture = await startHttpFixture(endpoints);
});
beforeEach(() => {
  confirmed = 0;
  fixture.confirm = (principal) => {
    confirmed += 1;
    return principal;
  };
});
afterAll(() => fixture.stop());

const ask = (path: string, as: string) => fixture.call('POST', path, { as, json: {} });
const LACKS = '403 insufficient_scope';
const NO = '403 forbidden';

describe('a machine', () => {
  it.each([
    { as: 'machine', answers: { role: LACKS, key: LACKS, never: NO, own: NO, any: '200' } },
    { as: 'machine-role', answers: { role: LACKS, key: LACKS, never: NO, own: NO, any: '200' } },
    { as: 'machine-scope', answers: { role: NO, key: '200', never: NO, own: NO, any: '200' } },
    { as: 'machine-other-role', answers: { role: NO, key: '200', never: NO, own: NO, any: '200' } },
    { as: 'machine-both', answers: { role: '200', key: '200', never: NO, own: NO, any: '200' } },
  ])('standards 1 $as is let in as the contract says', async ({ as, answers }) => {
    const got: { [path: string]: string } = {};
    for (const path of Object.keys(answers)) {
      const { status, body } = await ask(`/${path}`, as);
      got[path] = status === 200 ? '200' : `${status} ${body.error.code}`;
      if (got[path] === LACKS) expect(body.error.details).toEqual({ scope: 'users:write' });
    }
    expect(got).toEqual(answers);
  });

  it('standards 2 is confirmed before a change, and not where every machine is taken', async () => {
    expect((await ask('/any', 'machine-both')).status).toBe(200);
    expect(confirmed).toBe(0);
    expect((await ask('/key', 'machine-both')).status).toBe(200);
    expect(confirmed).toBe(1);
    fixture.confirm = () => undefined;
    expect((await ask('/key', 'machine-both')).status).toBe(401);
    fixture.confirm = (principal) =>
      principal.kind === 'client' ? { ...principal, roles: [] } : principal;
    expect((await ask('/role', 'machine-both')).status).toBe(403);
  });
});
