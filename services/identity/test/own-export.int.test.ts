/** People export what identity stores about them, without anything that could sign somebody in. */
import { describe, expect, it } from 'vitest';
import { identityOfFile, PASSWORD } from './identity-fixture.ts';
import { withTotp } from './mfa-fixture.ts';

const EXPORT = '/api/v1/user/export';
const ofFile = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });
const { fixture, admin: ann } = ofFile;

describe('identity 31 an export', () => {
  it('holds each fact of the pages, and no secret', async () => {
    const eva = await withTotp(fixture, await fixture.registerVerified(ann.tenantId));
    const me = fixture.as(eva);
    await me.patch('/api/v1/user/profile', { locale: 'de-AT', preferred_username: 'eva' });
    const by = fixture.as(await fixture.signInAgain(ann));
    await by.patch(`/api/v1/admin/users/${eva.userId}`, {
      public_metadata: { plan: 'gold' },
      private_metadata: { note: 'canary-private-note' },
    });
    const made = await by.post('/api/v1/agents', { name: 'helper', services: [] });
    const services = [{ service_name: 'mail', fields: ['key'] }];
    const delegated = await me.post('/api/v1/me/delegations', {
      agent_id: made.body.id,
      services,
    });
    expect(delegated.status, delegated.text).toBe(201);
    await me.post('/api/v1/user/email', { email: 'eva.next@example.com' });
    const answer = await me.get(EXPORT);
    expect(answer.status, answer.text).toBe(200);
    const { body, text } = answer;
    const [profile, mfa, sessions, delegations, agents] = await Promise.all(
      ['user/profile', 'me/mfa', 'me/sessions', 'me/delegations', 'me/agents'].map(
        async (path) => (await me.get(`/api/v1/${path}`)).body,
      ),
    );
    expect(body.profile).toMatchObject(profile);
    expect(body.profile.public_metadata).toEqual({ plan: 'gold' });
    expect(body.factors).toEqual(mfa.factors);
    expect(body.sessions.map(({ id }: { id: string }) => id)).toEqual(
      sessions.sessions.map(({ id }: { id: string }) => id),
    );
    expect(body.delegations).toEqual(delegations.delegations);
    expect(body.agents).toEqual(agents.agents);
    expect(body.email_change).toMatchObject({ email: 'eva.next@example.com' });
    expect(body).toMatchObject({ identities: [], consents: [], delete_at: null });
    for (const secret of [PASSWORD, eva.secret, eva.access, ...eva.recoveryCodes]) {
      expect(text).not.toContain(secret);
    }
    expect(text).not.toMatch(/\$argon2|canary-private-note|salt|hash/);
  });

  it('comes five times a day, never to whoever impersonates, and is recorded', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    const by = fixture.as(await fixture.signInAgain(ann));
    const acting = await by.post(`/api/v1/admin/users/${bob.userId}/impersonate`, {
      reason: 'ticket',
    });
    const impersonator = fixture.as({ ...bob, access: acting.body.access_token });
    expect((await impersonator.get(EXPORT)).status).toBe(403);
    const position = await fixture.head();
    const statuses: number[] = [];
    for (let asked = 0; asked < 6; asked += 1) {
      statuses.push((await fixture.as(bob).get(EXPORT)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    const recorded = (await fixture.eventsSince(position)).filter(
      ({ type }) => type === 'UserSelfExported',
    );
    expect(recorded.map(({ data }) => data)).toEqual(Array(5).fill({ id: bob.userId }));
  });
});
