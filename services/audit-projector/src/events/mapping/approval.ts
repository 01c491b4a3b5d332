/** Rows for the events of approval: requests and decisions. */
import type { approvalEvents, DataOf } from '@cardea/contracts';
import type { Details, Result, Rule } from '../audit-row.ts';
import { denied } from './denied.ts';

type Type = (typeof approvalEvents)['types'][number];
type Data<Of extends Type> = DataOf<typeof approvalEvents, Of>;
type RequestData = Pick<
  Data<'approval.requested'>,
  'id' | 'action' | 'severity' | 'ttl_seconds' | 'deputy_for'
>;

const request = <Of extends RequestData>(
  past: string,
  action: string,
  {
    result = 'success',
    more = () => ({}),
  }: { readonly result?: Result; readonly more?: (data: Of) => Details } = {},
): Rule<Of> => ({
  category: 'authorization',
  says: ({ data }) => ({
    type: `ciba.${past}`,
    action,
    result,
    target: { type: 'approval_request', id: data.id },
    details: {
      action: data.action,
      severity: data.severity,
      ttl_seconds: data.ttl_seconds,
      ...(data.deputy_for === undefined ? {} : { deputy_for: data.deputy_for }),
      ...more(data),
    },
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
type OfSet = {
  readonly set?: string;
  readonly needed?: number;
  readonly responders?: readonly string[];
};

/** The set that could decide, and the persons whose approvals count. Empty if the request named one person. */
function setOf({ set, needed, responders }: OfSet): Details {
  if (set === undefined) return {};
  return { set, needed, ...(responders === undefined ? {} : { responders }) };
}

/** The access that an agent receives through the approval. Empty for other requests. */
function accessOf({ access }: Data<'approval.approved'>): Details {
  return access === undefined ? {} : { access };
}

export const approvalRules: { readonly [Of in Type]: Rule<Data<Of>> } = {
  'approval.requested': request<Data<'approval.requested'>>('request_created', 'create', {
    more: setOf,
  }),
  'approval.given': request<Data<'approval.given'>>('given', 'approve', {
    more: (data) => ({ ...setOf(data), given: data.given }),
  }),
  'approval.escalated': request<Data<'approval.escalated'>>('escalated', 'escalate', {
    more: (data) => ({ ...setOf(data), to: data.to }),
  }),
  'approval.approved': request<Data<'approval.approved'>>('approved', 'approve', {
    more: (data) => ({ ...setOf(data), ...accessOf(data) }),
  }),
  'approval.denied': request('denied', 'deny', { result: 'denied' }),
  'approval.expired': request('expired', 'expire', { result: 'failure' }),
  'approval.consumed': request('consumed', 'consume'),
  'approval.decision_refused': request('decision_refused', 'approve', { result: 'denied' }),
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
  'deputy.changed': {
    category: 'authorization',
    says: ({ data: { user_id: id, deputy, from, until } }) => ({
      type: 'ciba.deputy_changed',
      action: 'update',
      result: 'success',
      target: { type: 'user', id },
      details: { deputy, from, until },
    }),
  },
  'channel.created': channel('create'),
  'channel.changed': channel('update'),
  'channel.deleted': channel('delete'),
  'action.denied': denied('authorization'),
};
