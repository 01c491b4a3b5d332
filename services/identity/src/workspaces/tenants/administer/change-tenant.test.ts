import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type TenantEvent, tenants } from '../tenant.ts';
import { changeTenant } from './change-tenant.ts';

const created: TenantEvent = {
  type: 'TenantCreated',
  data: {
    id: 't1',
    organization_id: 'o1',
    home_tenant_id: 't1',
    name: 'Acme',
    slug: 'acme',
    display_name: 'Acme',
    environment: 'development',
    created_at: '2026-01-01T00:00:00.000Z',
  },
};
/** An event from before common passwords were checked. */
const longer: TenantEvent = {
  type: 'TenantSettingsChanged',
  data: { id: 't1', settings: { password_policy: { min: 12 } } },
};
const deleted: TenantEvent = { type: 'TenantDeleted', data: { id: 't1', deleted_at: 'later' } };

describe('changing a tenant', () => {
  it('sets what passwords have to be, and leaves alone what is not named', () => {
    const changed = given(tenants, created, longer).when((tenant) =>
      changeTenant({ settings: { password_policy: { common: 'refuse' } } }, tenant),
    );
    changed.accepts({
      type: 'TenantSettingsChanged',
      data: {
        id: 't1',
        settings: {
          password_policy: {
            min: 12,
            common: 'refuse',
            zxcvbn_score: null,
            breach_check: false,
            history: 0,
          },
        },
      },
    });
    expect(changed.state).toMatchObject({ settings: { refresh: { leeway_seconds: 10 } } });
  });

  it('sets how people come in, and nothing that is so already', () => {
    const uniform: TenantEvent = {
      type: 'TenantSettingsChanged',
      data: { id: 't1', settings: { registration: { uniform_response: true } } },
    };
    const closed = { password_policy: { min: 8 }, registration: { mode: 'closed' } } as const;
    const changed = given(tenants, created, uniform).when((tenant) =>
      changeTenant({ settings: closed }, tenant),
    );
    changed.accepts({
      type: 'TenantSettingsChanged',
      data: { id: 't1', settings: { registration: { uniform_response: true, mode: 'closed' } } },
    });
    expect(changed.state).toMatchObject({ settings: { password_policy: { min: 8 } } });
  });

  it('renames it, and says what changed alone', () => {
    given(tenants, created)
      .when((tenant) =>
        changeTenant(
          { name: 'Acme', display_name: 'ACME', environment: 'staging', settings: {} },
          tenant,
        ),
      )
      .accepts({
        type: 'TenantChanged',
        data: { id: 't1', display_name: 'ACME', environment: 'staging' },
      });
  });

  it('says nothing where nothing changes, and finds no tenant that is gone', () => {
    const same = { password_policy: { min: 12, common: 'allow' } } as const;
    given(tenants, created, longer)
      .when((tenant) => changeTenant({ settings: same }, tenant))
      .accepts();
    given(tenants, created, deleted)
      .when((tenant) => changeTenant({ settings: same }, tenant))
      .refuses('not_found');
  });
});
