/**
 * A deferred credential ends with its basis. Each kind is tested with every event that ends a part of its basis, and
 * with the events that do not.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFERRED, type World, world } from './deferred-fixture.ts';
import type { Account } from './identity-fixture.ts';
import { application, authorized, oauthCalls, oauthOfFile } from './oauth-fixture.ts';
import { EVENTS } from './revoking-events.ts';

const { fixture } = oauthOfFile({ RATE_LIMIT_FACTOR: '100000' });
let here: World;
beforeAll(async () => {
  here = await world(fixture);
});
afterAll(async () => {
  await here?.stop();
});

const kinds = Object.entries(DEFERRED);

describe('a deferred credential', () => {
  it.each(kinds)('P3 works while its basis stands: %s', async (_name, { issue }) => {
    const use = await issue(here, await here.person());
    expect(await use()).toBe(true);
  });

  const cases = kinds.flatMap(([name, kind]) => {
    // A person who was linked by a provider has proven the address by that.
    const events = Object.entries(EVENTS).filter(
      ([, of]) => !(of.isUnverified === true && kind.provesAddress === true),
    );
    return events.map(([event, of]) => {
      const ended = of.ends.some((part) => kind.restsOn.includes(part));
      return { name, event, kind, of, becomes: ended ? 'is void' : 'still works' };
    });
  });
  it.each(cases)('P3 $becomes after: $event; $name', async ({ kind, of, becomes }) => {
    const person: Account = await here.person(of.isUnverified === true);
    const use = await kind.issue(here, person);
    await of.happen(here, person);
    expect(await use()).toBe(becomes === 'still works');
  });
});

describe('a token by the refresh token of an application', () => {
  const wide = ['openid', 'profile', 'roles', 'account'];
  const narrowed = async (scopes: readonly string[]) => {
    const person = await here.person();
    const { admin } = here;
    const first = { scopes: wide, first_party: true };
    const client = await application(fixture, admin, first);
    const tokens = await authorized(fixture, {
      ...{ client, account: person, more: { scope: wide.join(' ') } },
    });
    expect(tokens.scope.split(' ').toSorted()).toEqual(wide.toSorted());
    const path = `/api/v1/admin/applications/${client.id}`;
    expect((await fixture.as(admin).patch(path, { scopes })).status).toBe(200);
    const { refresh } = oauthCalls(() => fixture);
    return (more: object = {}) => refresh(client, tokens.refresh_token, more);
  };

  it('P3 has no scope that its application has lost', async () => {
    const refresh = await narrowed(['openid']);
    const { status, body } = await refresh();
    expect(status).toBe(200);
    expect(body.scope).toBe('openid');
    const claims = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString());
    expect([claims.scope, claims.roles]).toEqual(['openid', undefined]);
    const own = fixture.rest.as({ bearer: body.access_token });
    expect((await own.get('/api/v1/me/sessions')).code).toBe('insufficient_scope');
  });

  it('P3 is not issued where nothing is left of what was asked', async () => {
    const refresh = await narrowed(['openid']);
    expect((await refresh({ scope: 'account roles' })).body.error).toBe('invalid_scope');
    expect((await refresh({ scope: 'openid' })).status).toBe(200);
  });
});
