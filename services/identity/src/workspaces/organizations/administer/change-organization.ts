/** Changes that an owner can make to the organization. The retention of its audit log has limits. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Organization, OrganizationEvent } from '../organization.ts';

const AUDIT_RETENTION_DAYS_MIN = 7;
const AUDIT_RETENTION_DAYS_MAX = 365;

export type ChangeOrganization = {
  readonly name?: string | undefined;
  /** A value outside the limits is set to the nearest limit. */
  readonly auditRetentionDays?: number | undefined;
};

export function changeOrganization(
  { name, auditRetentionDays }: ChangeOrganization,
  organization: Organization,
): Decision<OrganizationEvent, 'not_found'> {
  if (organization.status === 'none') return refuse('not_found');
  const days = auditRetentionDays === undefined ? undefined : clamped(auditRetentionDays);
  const changed = {
    ...(name === undefined || name === organization.name ? {} : { name }),
    ...(days === undefined || days === organization.auditRetentionDays
      ? {}
      : { audit_retention_days: days }),
  };
  if (Object.keys(changed).length === 0) return accept();
  return accept({ type: 'OrganizationChanged', data: { id: organization.id, ...changed } });
}

const clamped = (days: number): number =>
  Math.min(AUDIT_RETENTION_DAYS_MAX, Math.max(AUDIT_RETENTION_DAYS_MIN, days));
