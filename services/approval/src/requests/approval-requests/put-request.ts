/**
 * The last steps of an endpoint that sends a request to a person: the agent's queue, the request itself, and the
 * response.
 */
import type { Command } from '@cardea/event-store';
import { askQueue } from '../queues/ask-queue.ts';
import { makeRequest } from './make-request.ts';
import { showRequest } from './read-request.ts';
import type { ExistingRequest, RequestFacts } from './request.ts';

/** The 429 for a caller who may send a request again after this time. */
export const tooMany = (afterMs: number) =>
  ({
    refused: 'approval_rate_limited',
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(afterMs / 1000))) },
  }) as const;

/** The refusal of an agent's request to this person or set; undefined if its queue has room for the request. */
export async function refusedByQueue(
  approval: Parameters<typeof askQueue>[0],
  facts: Pick<RequestFacts, 'id' | 'agent_id' | 'expires_at'>,
  { userId, command }: { readonly userId: string; readonly command: Command },
) {
  const entry = { request_id: facts.id, until: facts.expires_at };
  const asked = await askQueue(approval, { agentId: facts.agent_id, userId, entry }, command);
  if (asked.outcome === 'muted') return { refused: 'agent_muted' } as const;
  if (asked.outcome === 'rate_limited') {
    return tooMany(asked.until.getTime() - command.now.getTime());
  }
  return undefined;
}

type AnswerDependencies = Parameters<typeof showRequest>[0];

export const answerWith = async (
  approval: AnswerDependencies,
  request: ExistingRequest,
  wrote?: bigint,
) => ({ ok: await showRequest(approval, request), wrote });

export async function putRequest(
  approval: AnswerDependencies & Parameters<typeof makeRequest>[0],
  facts: RequestFacts,
  command: Command,
) {
  const made = await makeRequest(approval, facts, command);
  if (made.request.status === 'none') throw new Error('a request that was made does not stand');
  return answerWith(approval, made.request, made.position);
}
