/** Tenants of an organization: created, changed, closed, and deleted with all of their data. */
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { sweepClosedTenants } from '../src/workspaces/tenants/delete/delete-closed-tenants.ts';
import { type Account, claimsOf, identityOfFile, PASSWORD } from './identity-fixture.ts';

const TENANTS = '/api/v1/admin/tenants';
const DAY_MS = 24 * 3_600_000;

const { fixture, admin: ann } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });

const told = ({ status, code }: { status: number; code: string | undefined }) =>
  code === undefined ? `${status}` : `${status} ${code}`;
const owner = () => fixture.as(ann);
const create = (body: object, headers?: { readonly [name: string]: string }) =>
  owner().post(TENANTS, body, headers === undefined ? {} : { headers });
let count = 0;
const unused = (what: string) => {
  count += 1;
  return `${what}-${count}`;
};
const newEmail = () => `${unused('person')}@example.com`;

async function branch() {
  const email = newEmail();
  const { body } = await create({ name: unused('branch'), admin_email: email });
  const { token } = await fixture.mail(email, /invited/i);
  const joined = await fixture.rest.post('/api/v1/auth/invitations/accept', {
    token,
    password: PASSWORD,
  });
  const { access_token: access, refresh_token: refresh, user_id: userId } = joined.body;
  const account: Account = { tenantId: body.id, userId, email, access, refresh };
  return { tenant: body, account };
}

describe('a further tenant', () => {
  it('is of the organization, with an administrator who was invited, an application and its own people', async () => {
    const { tenant, account } = await branch();
    const own = await owner().get(`${TENANTS}/${ann.tenantId}`);
    expect(tenant.organization_id).toBe(own.body.organization_id);
    expect(claimsOf(account.access)).toMatchObject({ tid: tenant.id, roles: ['admin'] });
    expect((await owner().get(`${TENANTS}/${tenant.id}`)).body).toEqual(tenant);
    const { body } = await owner().get(TENANTS);
    expect(body.tenants.map(({ id }: { id: string }) => id)).toEqual(
      expect.arrayContaining([ann.tenantId, tenant.id]),
    );
    expect(body.total).toBe(body.tenants.length);
    const apps = await fixture.as(account).get('/api/v1/admin/applications');
    expect(apps.body.applications).toHaveLength(1);
    expect((await fixture.as(account).get(TENANTS)).status).toBe(403);
    const foreign = fixture.rest.as({ bearer: ann.access, tenant: tenant.id });
    expect(told(await foreign.get('/api/v1/admin/users'))).toBe('403 tenant_mismatch');
  });

  it('has a slug that no other has, chosen or made of its name', async () => {
    const slug = unused('chosen');
    expect((await create({ name: 'One', slug })).body.slug).toBe(slug);
    expect(told(await create({ name: 'Two', slug }))).toBe('409 slug_taken');
    expect((await create({ name: slug })).body.slug).toMatch(new RegExp(`^${slug}-[a-z2-7]{4}$`));
    for (const body of [{ name: ' ' }, { name: 'a', slug: 'No Slug' }, { name: 'a', more: 1 }]) {
      expect(told(await create(body))).toBe('400 invalid_request');
    }
    expect(told(await create({ name: 'a', admin_email: 'nobody' }))).toBe('400 invalid_email');
  });

  it('is made once under one Idempotency-Key', async () => {
    const key = { 'idempotency-key': unused('key') };
    const [first, again] = [
      await create({ name: 'Once' }, key),
      await create({ name: 'Once' }, key),
    ];
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
    expect(told(await create({ name: 'Other' }, key))).toBe('422 idempotency_key_reused');
  });

  it('is renamed and moved to another environment by owners', async () => {
    const { body } = await create({ name: 'Before' });
    const change = { name: 'After', display_name: 'AFTER', environment: 'staging' };
    const changed = await owner().patch(`${TENANTS}/${body.id}`, change);
    expect(changed.body).toEqual({ ...body, ...change });
    const stranger = fixture.as(await fixture.signUp('stranger'));
    expect(told(await stranger.patch(`${TENANTS}/${body.id}`, change))).toBe('404 not_found');
    expect(told(await stranger.delete(`${TENANTS}/${body.id}`))).toBe('404 not_found');
  });
});

describe('a tenant that is closed', () => {
  it('takes nobody in from the answer on: no sign-in, token, key or refresh', async () => {
    const { tenant, account } = await branch();
    const key = await fixture.as(account).post('/api/v1/api-keys', {
      name: 'key',
      scopes: ['users:read'],
    });
    const byKey = fixture.rest.as({ bearer: key.body.key, tenant: tenant.id });
    expect((await byKey.get('/api/v1/admin/users')).status).toBe(200);
    const closed = await owner().delete(`${TENANTS}/${tenant.id}`);
    expect(closed.status).toBe(202);
    const inDays = (new Date(closed.body.deleted_at).getTime() - Date.now()) / DAY_MS;
    expect(Math.round(inDays)).toBe(30);
    expect(told(await fixture.logIn(account))).toBe('404 tenant_not_found');
    expect(told(await fixture.refresh(account.refresh))).toBe('401 invalid_refresh_token');
    expect((await fixture.as(account).get('/api/v1/user/profile')).status).toBe(401);
    expect((await fixture.as(account).post('/api/v1/api-keys', {})).status).toBe(401);
    expect((await byKey.get('/api/v1/admin/users')).status).toBe(401);
    expect(told(await owner().get(`${TENANTS}/${tenant.id}`))).toBe('404 not_found');
    expect(told(await owner().delete(`${TENANTS}/${tenant.id}`))).toBe('404 not_found');
  });

  it('keeps its slug until it is deleted, and its organization alone is told until when', async () => {
    const { body: tenant } = await create({ name: unused('leaving') });
    const closed = await owner().delete(`${TENANTS}/${tenant.id}`);
    const refused = await create({ name: 'Heir', slug: tenant.slug });
    expect(told(refused)).toBe('409 slug_taken');
    const freeAfterMs =
      new Date(refused.body.error.details.free_at).getTime() -
      new Date(closed.body.deleted_at).getTime();
    expect(freeAfterMs).toBe(3_600_000);
    const stranger = fixture.as(await fixture.signUp('elsewhere'));
    const foreign = await stranger.post(TENANTS, { name: 'Heir', slug: tenant.slug });
    expect([told(foreign), foreign.body.error.details]).toEqual(['409 slug_taken', undefined]);
  });

  it('is not the one that the organization began with', async () => {
    expect(told(await owner().delete(`${TENANTS}/${ann.tenantId}`))).toBe('409 home_tenant');
  });

  it('identity 15 is gone after thirty days: rows, keys and slug', async () => {
    const { tenant, account } = await branch();
    const needs = fixture.host.needsOf('identity');
    await owner().delete(`${TENANTS}/${tenant.id}`);
    const left = async () => {
      const { rows } = await needs.database.system.query<{ what: string }>(
        `SELECT 'user' AS what FROM identity.users WHERE tenant_id = $1
         UNION ALL SELECT 'session' FROM identity.sessions WHERE tenant_id = $1
         UNION ALL SELECT 'application' FROM identity.applications WHERE tenant_id = $1
         UNION ALL SELECT 'tenant' FROM identity.tenants WHERE tenant_id = $1
         UNION ALL SELECT subject_id FROM identity.subject_keys
           WHERE tenant_id = $1 AND wrapped IS NOT NULL AND subject_id NOT LIKE 'context:%'`,
        [tenant.id],
      );
      return rows.map(({ what }) => what);
    };
    await sweepClosedTenants(needs, () => {});
    expect(await left()).toContain('user');
    expect(await left()).toContain(`user:${account.userId}`);
    fixture.clock.move(30 * DAY_MS);
    try {
      await sweepClosedTenants(needs, () => {});
      await untilTrue(async () => (await left()).length === 0, { what: 'all of it is gone' });
      const { body } = await fixture.logIn(ann);
      const late = fixture.rest.as({ bearer: body.access_token, tenant: ann.tenantId });
      await untilTrue(
        async () => {
          const again = await late.post(TENANTS, { name: 'Heir', slug: tenant.slug });
          return again.status === 201;
        },
        { what: 'the slug is free' },
      );
    } finally {
      fixture.clock.move(-30 * DAY_MS);
    }
  });
});
