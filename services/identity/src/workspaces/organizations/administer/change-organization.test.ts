import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { type OrganizationEvent, organizations } from '../organization.ts';
import { type ChangeOrganization, changeOrganization } from './change-organization.ts';

const made: OrganizationEvent = {
  type: 'OrganizationCreated',
  data: { id: 'o1', name: 'Example', created_at: '2026-01-01T00:00:00.000Z' },
};
const changed = (data: object): OrganizationEvent => ({
  type: 'OrganizationChanged',
  data: { id: 'o1', ...data },
});
const change = (of: ChangeOrganization) => (state: typeof organizations.initial) =>
  changeOrganization(of, state);

describe('an organization', () => {
  it.each([
    [1, 7],
    [7, 7],
    [30, 30],
    [365, 365],
    [1_000, 365],
    [-5, 7],
  ])('that wants its audit log kept for %i days gets %i', (auditRetentionDays, days) => {
    given(organizations, made)
      .when(change({ auditRetentionDays }))
      .accepts(changed({ audit_retention_days: days }));
  });

  it('is renamed', () => {
    given(organizations, made)
      .when(change({ name: 'Other' }))
      .accepts(changed({ name: 'Other' }));
  });

  it('appends nothing that stands already', () => {
    given(organizations, made)
      .when(change({ name: 'Example', auditRetentionDays: 90 }))
      .accepts();
  });

  it('is unknown before it was made', () => {
    given(organizations)
      .when(change({ name: 'Other' }))
      .refuses('not_found');
  });
});
