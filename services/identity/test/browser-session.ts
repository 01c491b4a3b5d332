/** The facts of a browser sign-in as its events contain them. */
import type { SessionFacts } from '../src/sessions/session.ts';

const sealed = { subject: 'user:ann', box: 'box' };

export const browserSession: SessionFacts = {
  ...{ id: 'browser', user_id: 'ann', user_epoch: 0, kind: 'browser' },
  ...{ client_id: null, consent_id: null, consent_epoch: null, scope: null, resource: null },
  ...{ salt: 'salt', seq: 0, rotated_at: '2026-01-01T09:00:00.000Z', auth_time: 0, amr: ['pwd'] },
  ...{ app_id: null, ip: sealed, user_agent: sealed },
  started_at: '2026-01-01T09:00:00.000Z',
  last_active_at: '2026-01-01T09:00:00.000Z',
  expires_at: '2026-01-01T21:00:00.000Z',
  ends_at: '2026-01-01T21:00:00.000Z',
  ...{ revoked_at: null, reason: null },
};
