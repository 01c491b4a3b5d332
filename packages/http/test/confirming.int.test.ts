/** Roles are checked again at the time of the action. */
import { request as httpRequest } from 'node:http';
import { endpoint } from '@cardea/http';
import { untilTrue } from '@cardea/testing';
import Type from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type HttpFixture, startHttpFixture } from './http-fixture.ts';
import { user } from './sample.ts';

const common = {
  summary: 'Changes something.',
  tag: 'Development',
  tenant: 'required',
  body: Type.Object({ text: Type.String() }),
  ok: Type.Object({ seen: Type.Unknown() }),
  refusals: {},
} as const;
let handled = 0;
let duringHandling = (): void => {};
const handle = async ({ principal }: { readonly principal: unknown }) => {
  handled += 1;
  duringHandling();
  return { ok: { seen: principal } };
};
const post = {
  ...common,
  method: 'post',
  access: { class: 'things', applicationScope: 'account' },
} as const;
const endpoints = [
  endpoint(
    { ...post, name: 'change', path: '/api/v1/change', who: ['admin'], machine: 'users:write' },
    handle,
  ),
  endpoint(
    {
      ...post,
      name: 'secret',
      path: '/api/v1/secret',
      who: ['admin'],
      machine: 'never',
      response: { isSecret: true },
    },
    handle,
  ),
  endpoint(
    {
      ...post,
      name: 'ahead',
      path: '/api/v1/ahead',
      who: ['admin', 'api_key:fga:read'],
      machine: 'never',
    },
    {
      readAhead: async ({ principal, body }) => `${principal.id} ${body.text}`,
      handle: async (_request, read) => {
        handled += 1;
        return { ok: { seen: read } };
      },
    },
  ),
  endpoint({ ...post, name: 'own', path: '/api/v1/own', who: ['user'] }, handle),
  ...(['users', 'applications'] as const).map((stepUp) => {
    const setting = { ...common, method: 'post', who: ['user'] } as const;
    const path = `/api/v1/signed-in-${stepUp}`;
    return endpoint(
      { ...setting, name: `signed_in_${stepUp}`, path, access: { class: 'settings', stepUp } },
      handle,
    );
  }),
];

let fixture: HttpFixture;
beforeAll(async () => {
  fixture = await startHttpFixture(endpoints);
});
beforeEach(() => {
  handled = 0;
  duringHandling = () => {};
  fixture.confirm = (principal) => principal;
});
afterAll(() => fixture.stop());

const ask = (path: string, as = 'admin') => fixture.call('POST', path, { as, json: { text: 'x' } });

describe('a write that a role allows', () => {
  it('is refused to a caller authorized as administrator, once the token has expired', async () => {
    fixture.confirm = () => undefined;
    expect((await ask('/api/v1/change')).status).toBe(401);
    expect(handled).toBe(0);
    expect((await ask('/api/v1/own', 'member')).status).toBe(200);
  });

  it('is refused to whom the role was taken from, and shown the caller as they are', async () => {
    fixture.confirm = () => user({ id: 'root', roles: ['member'] });
    expect((await ask('/api/v1/change')).status).toBe(403);
    expect(handled).toBe(0);
    fixture.confirm = () => user({ id: 'root', roles: ['admin', 'looked up'] });
    expect((await ask('/api/v1/change')).body.seen.roles).toEqual(['admin', 'looked up']);
  });

  it('may read what it needs while the role is looked at, which no refusal tells of', async () => {
    expect((await ask('/api/v1/ahead')).body.seen).toBe('root x');
    expect((await ask('/api/v1/ahead', 'svc-read')).body.seen).toBe('key1 x');
    fixture.confirm = () => undefined;
    const answer = await ask('/api/v1/ahead');
    expect([answer.status, answer.body.seen, handled]).toEqual([401, undefined, 2]);
  });

  it('shows no secret to somebody who lost the role while it was made', async () => {
    const lose = () => {
      fixture.confirm = () => undefined;
    };
    duringHandling = lose;
    const answer = await ask('/api/v1/secret');
    expect([answer.status, answer.body.seen, handled]).toEqual([401, undefined, 1]);
    fixture.confirm = (principal) => principal;
    expect((await ask('/api/v1/change')).status).toBe(200);
  });

  it('is not kept open by a body that is a long time in coming', async () => {
    let confirmed = 0;
    fixture.confirm = (principal) => {
      confirmed += 1;
      return confirmed > 0 ? undefined : principal;
    };
    const headers = {
      authorization: 'Bearer admin',
      'x-service-tenant': 't1',
      'content-type': 'application/json',
    };
    const status = new Promise((resolve, reject) => {
      const sent = httpRequest(
        `${fixture.base}/api/v1/change`,
        { method: 'POST', headers },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        },
      );
      sent.on('error', reject);
      sent.write('{"text":');
      // The headers were accepted; the role is checked again after the last byte of the body.
      void untilTrue(async () => true, { what: 'the next turn' }).then(() => {
        expect(confirmed).toBe(0);
        sent.end('"x"}');
      });
    });
    expect(await status).toBe(401);
    expect([confirmed, handled]).toEqual([1, 0]);
  });
});

describe('a call that requires a recent sign-in', () => {
  it('P3 is refused, without a role too, once the session of the sign-in has ended', async () => {
    const signedIn = '/api/v1/signed-in-users';
    expect((await ask(signedIn, 'signed-in')).status).toBe(200);
    fixture.confirm = (principal) =>
      principal.kind === 'user' ? { ...principal, authTime: null } : principal;
    const { status, body } = await ask(signedIn, 'signed-in');
    expect([status, body.error?.code ?? body.code, handled]).toEqual([401, 'step_up_required', 1]);
    expect((await ask('/api/v1/signed-in-applications', 'signed-in')).status).toBe(200);
    expect((await ask('/api/v1/change')).status).toBe(200);
  });
});
