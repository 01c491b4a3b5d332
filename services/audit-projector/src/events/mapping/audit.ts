/** Rows for the events that the audit projector itself publishes. */
import type { auditEvents, DataOf } from '@cardea/contracts';
import type { Rule } from '../audit-row.ts';
import { denied } from './denied.ts';

type Type = (typeof auditEvents)['types'][number];
type Data<Of extends Type> = DataOf<typeof auditEvents, Of>;

export const auditRules: { readonly [Of in Type]: Rule<Data<Of>> } = {
  'export.made': {
    category: 'admin',
    says: ({ data }) => ({
      type: 'admin.audit.export',
      action: 'export',
      target: { type: 'audit', id: null },
      details: { format: data.format, rows: data.rows, filters: data.filters },
    }),
  },
  'retention.applied': {
    category: 'admin',
    says: ({ data }) => ({
      type: 'audit.retention_applied',
      action: 'delete',
      target: { type: 'audit', id: null },
      details: { before: data.before, rows: data.rows },
    }),
  },
  'action.denied': denied('admin'),
};
