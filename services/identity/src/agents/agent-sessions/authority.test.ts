import { describe, expect, it } from 'vitest';
import type { User } from '../../accounts/users/user.ts';
import type { ServiceGrant } from '../agents/service-grant.ts';
import type { Delegation } from '../delegations/delegation.ts';
import { authorityOf } from './authority.ts';

const NOW = new Date('2026-01-01T00:10:00Z');
const AT = '2026-01-01T00:00:00.000Z';
const of = (service_name: string, ...fields: string[]): ServiceGrant => ({ service_name, fields });

/** Without a delegation the session's authority is the user's own token. */
function whole(
  services: readonly string[],
  granted: readonly ServiceGrant[],
  delegated?: readonly ServiceGrant[],
) {
  const facts = { id: 'a1', name: 'a', description: null, owner_user_id: null, app_id: null };
  const agent = { ...facts, services: granted, created_at: AT };
  const given = { id: 'd1', user_id: 'u1', agent_id: 'a1', created_at: AT, requestHash: null };
  const expires_at = '2026-01-01T00:30:00.000Z';
  const delegation: Delegation =
    delegated === undefined
      ? { status: 'none' }
      : { status: 'granted', ...given, services: delegated, expires_at };
  const account = { status: 'active', reclaimedAt: null } as User;
  const authority = authorityOf({
    agent: { status: 'active', agent, nameHash: 'h', requestHash: null },
    user: { account, delegation, needsDelegation: false },
    since: new Date(AT),
    now: NOW,
  });
  if ('refused' in authority) throw new Error(authority.refused);
  return authority.grantedWhole(services);
}

describe('a service that is requested by its name alone', () => {
  it.each([
    ['the grant', [of('erp', 'a', 'b')], undefined],
    ['the grant, in two parts', [of('erp', 'a'), of('erp', 'b')], undefined],
    ['the grant, where a delegation has any field', [of('erp', 'a', 'b')], [of('erp', '*')]],
    ['the delegation, where the grant has any field', [of('erp', '*')], [of('erp', 'a', 'b')]],
    ['both', [of('erp', 'x', 'a', 'b')], [of('erp', 'a', 'b', 'y')]],
  ])('has the fields that are named by %s', (_what, granted, delegated) => {
    const reach = whole(['erp'], granted, delegated);
    expect(reach).toEqual({ covered: [of('erp', 'a', 'b')], missing: [] });
  });

  it.each([
    ['is not granted', [of('crm', 'a')], undefined],
    ['is granted with any field, and nowhere by name', [of('erp', '*')], undefined],
    ['is delegated with any field, too', [of('erp', '*')], [of('erp', '*')]],
    ['is not delegated', [of('erp', 'a')], [of('crm', 'a')]],
    ['is delegated with other fields', [of('erp', 'a')], [of('erp', 'b')]],
  ])('is missing where it %s', (_what, granted, delegated) => {
    const reach = whole(['erp'], granted, delegated);
    expect(reach).toEqual({ covered: [], missing: [of('erp', '*')] });
  });

  it('keeps its place among others, and says nothing of services that nobody names', () => {
    const granted = [of('crm', 'c'), of('erp', 'e'), of('mail', 'm')];
    expect(whole(['mail', 'none', 'crm'], granted)).toEqual({
      covered: [of('mail', 'm'), of('crm', 'c')],
      missing: [of('none', '*')],
    });
  });
});
