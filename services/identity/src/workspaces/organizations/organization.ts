/** An organization owns tenants; its id never changes. */
import type { Stream } from '@cardea/event-store';

export type Organization =
  | { readonly status: 'none' }
  | {
      readonly status: 'active';
      readonly id: string;
      readonly name: string;
      readonly auditRetentionDays: number;
      readonly createdAt: string;
    };

export type OrganizationEvent =
  | {
      readonly type: 'OrganizationCreated';
      readonly data: { readonly id: string; readonly name: string; readonly created_at: string };
    }
  | {
      readonly type: 'OrganizationChanged';
      readonly data: {
        readonly id: string;
        readonly name?: string;
        readonly audit_retention_days?: number;
      };
    };

const AUDIT_RETENTION_DAYS_DEFAULT = 90;

export const organizations: Stream<Organization, OrganizationEvent> = {
  noun: 'organization',
  initial: { status: 'none' },
  evolve: (before, { type, data }) => {
    switch (type) {
      case 'OrganizationCreated':
        return {
          status: 'active',
          id: data.id,
          name: data.name,
          auditRetentionDays: AUDIT_RETENTION_DAYS_DEFAULT,
          createdAt: data.created_at,
        };
      case 'OrganizationChanged':
        if (before.status === 'none') return before;
        return {
          ...before,
          name: data.name ?? before.name,
          auditRetentionDays: data.audit_retention_days ?? before.auditRetentionDays,
        };
    }
  },
};
