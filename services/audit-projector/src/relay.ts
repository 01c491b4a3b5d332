import type { RelayMapper } from '@cardea/event-bus';

/** What this service publishes of itself. */
export const mapAuditEvent: RelayMapper = ({ type, data }) =>
  type === 'ExportMade' ? { type: 'export.made', data } : undefined;
