import { BOOTSTRAP_TENANT_ID } from '@cardea/contracts';
import { describe, expect, it } from 'vitest';
import { isHighestIn, rankOf } from './ranks.ts';

const as = (role: string) => ({ rank: rankOf([role]), isKey: false });

describe('ranks', () => {
  it('P1 have an owner at their top, and in the tenant of the deployment a system administrator', () => {
    const highest = (tenantId: string) =>
      ['member', 'admin', 'owner', 'system_admin'].filter((role) =>
        isHighestIn(tenantId, as(role)),
      );
    expect(highest('t1')).toEqual(['owner', 'system_admin']);
    expect(highest(BOOTSTRAP_TENANT_ID)).toEqual(['system_admin']);
  });

  it('P1 leave an API key below an administrator', () => {
    expect(isHighestIn('t1', { rank: rankOf(['member']), isKey: true })).toBe(false);
  });
});
