/**
 * A fake approval service as vault sees it (`docs/design/approval.md`, Commands for vault): requests in memory, each
 * with one digest and consumed by one grant. It has no queues and sends no mail.
 */
import {
  approvalCalls,
  type ConsumeApproval,
  type ConsumedApproval,
  type OpenApproval,
  type OpenedApproval,
} from '@cardea/contracts';
import { answerValidator } from '@cardea/http';
import { type Peers, UnexpectedAnswer } from '@cardea/service';

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
  readonly opened: OpenApproval[];
  decide(id: string, status: 'approved' | 'denied' | 'expired', useBefore?: Date): void;
  /** Replaces the response of the next calls: any response that the contract allows, or a function that throws. */
  instead: (() => object) | undefined;
  calls: number;
};

const REMAINING_S = 300;

export function approvalPeer(): ApprovalPeer {
  const requests = new Map<string, Request>();
  const opened: OpenApproval[] = [];
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
  const open = (asked: OpenApproval): OpenedApproval => {
    const { digest } = asked;
    const known = [...requests.values()].find(
      (each) => each.digest === digest && (each.status === 'pending' || isUsable(each)),
    );
    const waiting = { expires_in: REMAINING_S, binding_message: 'agent: db · code 1234' };
    if (known !== undefined) return { outcome: 'joined', id: known.id, ...waiting };
    opened.push(asked);
    const id = `approval-${requests.size + 1}`;
    requests.set(id, {
      id,
      digest,
      tenantId: asked.tenant_id,
      agentId: asked.agent_id,
      useWindowS: asked.use_window_seconds,
      status: 'pending',
      useBefore: undefined,
      grantId: undefined,
    });
    return { outcome: 'opened', id, ...waiting };
  };
  const peer: Peers['approval'] = {
    open: async (asked) => {
      shared.calls += 1;
      return shared.instead === undefined ? open(asked) : checked(opens(shared.instead()));
    },
    get: async () => ({ outcome: 'not_found' }),
    consume: async (asked) => {
      shared.calls += 1;
      if (shared.instead !== undefined) return checked(consumes(shared.instead()));
      return consume(requests.get(asked.id), asked);
    },
  };
  return Object.assign(shared, { peer });
}

const opens = answerValidator(approvalCalls.open.ok);
const consumes = answerValidator(approvalCalls.consume.ok);

function checked<Answer>(answer: { readonly value: Answer } | { readonly faults: unknown }) {
  if ('value' in answer) return answer.value;
  throw new UnexpectedAnswer('approval answered with what is no answer');
}

const isUsable = ({ status, grantId, useBefore }: Request): boolean =>
  status === 'approved' &&
  grantId === undefined &&
  useBefore !== undefined &&
  useBefore > new Date();

function consume(request: Request | undefined, asked: ConsumeApproval): ConsumedApproval {
  if (
    request === undefined ||
    request.tenantId !== asked.tenant_id ||
    request.agentId !== asked.agent_id
  ) {
    return { outcome: 'not_found' };
  }
  if (request.digest !== asked.digest) return { outcome: 'mismatch' };
  if (request.status === 'pending') {
    return { outcome: 'pending', expires_in: 100, binding_message: 'agent: db · code 1234' };
  }
  if (request.status !== 'approved') return { outcome: request.status };
  const use_before = (request.useBefore ?? new Date(0)).toISOString();
  if (request.grantId === asked.grant_id) return { outcome: 'consumed', again: true, use_before };
  if (request.grantId !== undefined) return { outcome: 'consumed_by_other' };
  if (!isUsable(request)) return { outcome: 'expired' };
  request.grantId = asked.grant_id;
  return { outcome: 'consumed', again: false, use_before };
}
