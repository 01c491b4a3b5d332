import type { UserPrincipal } from '@cardea/auth';
import { BOOTSTRAP_TENANT_ID } from '@cardea/contracts';
import { describe, expect, it } from 'vitest';
import { objectionToHashes } from './hashes-in-export.ts';

const now = new Date('2026-01-01T10:00:00.000Z');
const seconds = now.getTime() / 1_000;
const person = (more: Partial<UserPrincipal>): UserPrincipal => ({
  ...{ kind: 'user', id: 'ann', tenantId: 't', impersonatedBy: null, clientId: null },
  ...{ organizationId: null, email: null, sessionId: 'sid', appId: null, issuedAt: 0 },
  ...{ expiresAt: seconds + 900, roles: ['owner'], authTime: seconds - 10 },
  ...more,
});
const asked = async (tenantId: string, shown: UserPrincipal, live?: UserPrincipal) =>
  (
    await objectionToHashes(
      { confirm: async (principal) => live ?? principal },
      { principal: shown, tenantId, now },
    )
  )?.refused;

describe('standards 9 password hashes', () => {
  it('are for an owner, and in the tenant of the deployment for a system administrator', async () => {
    expect(await asked('t', person({}))).toBeUndefined();
    expect(await asked('t', person({ roles: ['admin'] }))).toBe('forbidden');
    expect(await asked(BOOTSTRAP_TENANT_ID, person({}))).toBe('forbidden');
    const system = person({ roles: ['system_admin', 'owner'] });
    expect(await asked(BOOTSTRAP_TENANT_ID, system)).toBeUndefined();
  });

  it('take a sign-in of the last ten minutes that has not ended', async () => {
    expect(await asked('t', person({ authTime: seconds - 599 }))).toBeUndefined();
    expect(await asked('t', person({ authTime: seconds - 600 }))).toBe('step_up_required');
    expect(await asked('t', person({ authTime: null }))).toBe('step_up_required');
    expect(await asked('t', person({}), person({ authTime: null }))).toBe('step_up_required');
  });

  it('count the roles of now, and the person alone', async () => {
    expect(await asked('t', person({}), person({ roles: ['member'] }))).toBe('forbidden');
    expect(await asked('t', person({ impersonatedBy: 'eve' }))).toBe('forbidden');
    const application = { clientId: 'app', scopes: ['openid', 'roles'] };
    expect(await asked('t', person(application))).toBe('insufficient_scope');
    const own = { clientId: 'app', scopes: ['openid', 'account'] };
    expect(await asked('t', person(own))).toBeUndefined();
  });
});
