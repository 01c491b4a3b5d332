import type { RelayMapper } from '@cardea/event-bus';

/** What this service publishes of itself. */
export const mapAuditEvent: RelayMapper = ({ type, data }) => {
  if (type === 'ExportMade') return { type: 'export.made', data };
  return type === 'RetentionApplied' ? { type: 'retention.applied', data } : undefined;
};
