/** A request of a vend and what happens to it, as tests of decisions give and expect it. */
import type { Approve } from '../src/requests/approval-requests/approve/approve.ts';
import type { Deny } from '../src/requests/approval-requests/deny/deny.ts';
import type {
  Binding,
  RequestEvent,
  RequestFacts,
} from '../src/requests/approval-requests/request.ts';

export const START = Date.parse('2026-01-01T10:00:00.000Z');
export const at = (seconds: number) => new Date(START + seconds * 1000);
export const facts: RequestFacts = {
  id: 'r1',
  tenant_id: 't1',
  agent_id: 'bot',
  agent_name: 'Bot',
  user_id: 'ann',
  action: 'credential_access',
  severity: 'medium',
  ttl_seconds: 300,
  created_at: at(0).toISOString(),
  expires_at: at(300).toISOString(),
  origin: 'vend',
  channels: [],
};
export const binding: Binding = {
  digest: 'd1',
  session_id: 's1',
  service_name: 'github',
  fields: ['token'],
  policies: [],
  use_window_seconds: 60,
  number_match: false,
  code: { subject: 'user:t1:ann', box: 'x' },
};
export const vendRequested = (more: Partial<Binding> = {}): RequestEvent => ({
  type: 'ApprovalRequested',
  data: { ...facts, binding: { ...binding, ...more } },
});
export const approvedAt = (seconds: number): RequestEvent => ({
  type: 'ApprovalApproved',
  data: { responded_by: 'ann', responded_at: at(seconds).toISOString(), user_vouched: true },
});
export const deniedAt = (
  seconds: number,
  cause: 'user' | 'binding_code' = 'user',
): RequestEvent => ({
  type: 'ApprovalDenied',
  data: {
    responded_by: 'ann',
    responded_at: at(seconds).toISOString(),
    user_vouched: true,
    cause,
  },
});
export const expiredAt = (seconds: number, cause: 'time' | 'agent' = 'time'): RequestEvent => ({
  type: 'ApprovalExpired',
  data: { cause, expired_at: at(seconds).toISOString() },
});
export const by = (seconds: number, more: Partial<Approve> = {}): Approve => ({
  userId: 'ann',
  authTime: null,
  now: at(seconds),
  userVouched: true,
  isAdmin: false,
  code: 'none',
  holdsSet: false,
  earlier: new Map(),
  ...more,
});
export const no = (seconds: number): Deny => ({
  userId: 'ann',
  holdsSet: false,
  userVouched: true,
  now: at(seconds),
});
export const use = (seconds: number, more: object = {}) => ({
  agentId: 'bot',
  digest: 'd1',
  grantId: 'g1',
  now: at(seconds),
  userIsActive: true,
  userIsVouched: true,
  ...more,
});

export const toSet = (needed: number, more: Partial<RequestFacts> = {}): RequestEvent => ({
  type: 'ApprovalRequested',
  data: {
    ...facts,
    user_id: 'role:admin',
    approver: { role: 'admin' },
    needed,
    binding: { ...binding, number_match: false },
    ...more,
  },
});
export const toPerson = (
  escalation: NonNullable<RequestFacts['escalate']>,
  more: Partial<RequestFacts> = {},
): RequestEvent => ({
  type: 'ApprovalRequested',
  data: { ...facts, binding, escalate: escalation, ...more },
});
export const holder = (userId: string, seconds: number, more: Partial<Approve> = {}) =>
  by(seconds, { userId, holdsSet: true, ...more });
export const ESCALATE = { after_seconds: 60, approver: { role: 'owner' } };
export const given1 = (userId: string, responders: readonly string[]): RequestEvent => ({
  type: 'ApprovalGiven',
  data: { responded_by: userId, responded_at: at(1).toISOString(), responders, needed: 2 },
});
