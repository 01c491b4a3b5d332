/** Publishes the events of this service. */
import type { auditEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { ExportMade } from './exports/export.ts';
import type { RetentionApplied } from './retention/retention.ts';

export const auditRelay = relay<ExportMade | RetentionApplied, typeof auditEvents>({
  ExportMade: ({ data }) => ({
    type: 'export.made',
    data: { ...data, filters: [...data.filters] },
  }),
  RetentionApplied: ({ data }) => ({ type: 'retention.applied', data }),
});
