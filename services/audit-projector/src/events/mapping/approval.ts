/** Rows for what approval publishes: requests, and what people decided. */
import type { approvalEvents, DataOf } from '@cardea/contracts';
import type { Result, Rule } from '../audit-row.ts';
import { denied } from './denied.ts';

type Type = (typeof approvalEvents)['types'][number];
type Data<Of extends Type> = DataOf<typeof approvalEvents, Of>;
type RequestData = Pick<Data<'approval.requested'>, 'id' | 'action' | 'severity' | 'ttl_seconds'>;

const request = (past: string, action: string, result: Result = 'success'): Rule<RequestData> => ({
  category: 'authorization',
  says: ({ data }) => ({
    type: `ciba.${past}`,
    action,
    result,
    target: { type: 'approval_request', id: data.id },
    details: { action: data.action, severity: data.severity, ttl_seconds: data.ttl_seconds },
  }),
});

type ChannelData = Data<'channel.created'> & { readonly changed?: readonly string[] };

const channel = (action: string): Rule<ChannelData> => ({
  category: 'admin',
  says: ({ data: { channel_id: id, format, origin, recipient, changed } }) => ({
    type: `admin.approval_channel.${action}`,
    action,
    result: 'success',
    target: { type: 'approval_channel', id },
    details: { format, origin, recipient, ...(changed === undefined ? {} : { changed }) },
  }),
});

export const approvalRules: { readonly [Of in Type]: Rule<Data<Of>> } = {
  'approval.requested': request('request_created', 'create'),
  'approval.approved': request('approved', 'approve'),
  'approval.denied': request('denied', 'deny', 'denied'),
  'approval.expired': request('expired', 'expire', 'failure'),
  'approval.consumed': request('consumed', 'consume'),
  'approval.decision_refused': request('decision_refused', 'approve', 'denied'),
  'approval.codes_blocked': {
    category: 'authorization',
    says: ({ data: { user_id: id, level, blocked_until } }) => ({
      type: 'ciba.codes_blocked',
      action: 'approve',
      result: 'denied',
      target: { type: 'user', id },
      details: { level, blocked_until },
    }),
  },
  'channel.created': channel('create'),
  'channel.changed': channel('update'),
  'channel.deleted': channel('delete'),
  'action.denied': denied('authorization'),
};
