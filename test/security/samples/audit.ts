/** Requests to the endpoints of the audit log. */
import type { Samples } from '../sample.ts';

export const auditSamples: Samples = {
  list_my_activity: { by: 'member', ask: () => ({}) },
  list_audit_events: { by: 'admin', ask: () => ({ query: { limit: '5' } }) },
  export_audit_events: { by: 'admin', ask: () => ({ query: { limit: '5' } }) },
};
