/**
 * Approval as vault sees it (`docs/design/approval.md`, Commands for vault): requests in memory,
 * each with one digest, used up by one grant. Nothing of queues, mail or people beyond saying yes or no.
 */
import type { Peers } from '@cardea/service';

type Request = {
  readonly id: string;
  readonly digest: string;
  readonly tenantId: string;
  readonly agentId: string;
  readonly useWindowS: number;
  status: 'pending' | 'approved' | 'denied' | 'expired';
  useBefore: Date | undefined;
  grantId: string | undefined;
};

export type ApprovalPeer = {
  readonly peer: Peers['approval'];
  readonly opened: { readonly [field: string]: unknown }[];
  decide(id: string, status: 'approved' | 'denied' | 'expired', useBefore?: Date): void;
  /** What the next calls answer instead, or throw. */
  instead: (() => { readonly outcome: string } & { readonly [key: string]: unknown }) | undefined;
  calls: number;
};

const REMAINING_S = 300;

export function approvalPeer(): ApprovalPeer {
  const requests = new Map<string, Request>();
  const opened: { [field: string]: unknown }[] = [];
  const shared = {
    opened,
    instead: undefined as ApprovalPeer['instead'],
    calls: 0,
    decide: (id: string, status: 'approved' | 'denied' | 'expired', useBefore?: Date) => {
      const request = requests.get(id);
      if (request === undefined) throw new Error('no such request');
      request.status = status;
      request.useBefore = useBefore ?? new Date(Date.now() + request.useWindowS * 1000);
    },
  };
  const open = (input: { [field: string]: unknown }) => {
    const digest = String(input['digest']);
    const known = [...requests.values()].find(
      (each) => each.digest === digest && (each.status === 'pending' || isUsable(each)),
    );
    const waiting = { expires_in: REMAINING_S, binding_message: 'agent: db · code 1234' };
    if (known !== undefined) return { outcome: 'joined', id: known.id, ...waiting };
    opened.push(input);
    const id = `approval-${requests.size + 1}`;
    requests.set(id, {
      id,
      digest,
      tenantId: String(input['tenant_id']),
      agentId: String(input['agent_id']),
      useWindowS: Number(input['use_window_seconds']),
      status: 'pending',
      useBefore: undefined,
      grantId: undefined,
    });
    return { outcome: 'opened', id, ...waiting };
  };
  const peer: Peers['approval'] = {
    open: async (input) => answered(shared, () => open(input as { [field: string]: unknown })),
    get: async () => ({ outcome: 'not_found' }),
    consume: async (id, input) =>
      answered(shared, () => consume(requests.get(id), input as { [field: string]: string })),
  };
  return Object.assign(shared, { peer });
}

function answered(
  shared: Pick<ApprovalPeer, 'instead' | 'calls'>,
  answer: () => { readonly outcome: string },
) {
  shared.calls += 1;
  return shared.instead === undefined ? answer() : shared.instead();
}

const isUsable = ({ status, grantId, useBefore }: Request): boolean =>
  status === 'approved' &&
  grantId === undefined &&
  useBefore !== undefined &&
  useBefore > new Date();

function consume(request: Request | undefined, input: { [field: string]: string }) {
  if (
    request === undefined ||
    request.tenantId !== input['tenant_id'] ||
    request.agentId !== input['agent_id']
  ) {
    return { outcome: 'not_found' };
  }
  if (request.digest !== input['digest']) return { outcome: 'mismatch' };
  if (request.status === 'pending') {
    return { outcome: 'pending', expires_in: 100, binding_message: 'agent: db · code 1234' };
  }
  if (request.status !== 'approved') return { outcome: request.status };
  const use_before = request.useBefore?.toISOString();
  if (request.grantId === input['grant_id'])
    return { outcome: 'consumed', again: true, use_before };
  if (request.grantId !== undefined) return { outcome: 'consumed_by_other' };
  if (!isUsable(request)) return { outcome: 'expired' };
  request.grantId = input['grant_id'];
  return { outcome: 'consumed', again: false, use_before };
}
