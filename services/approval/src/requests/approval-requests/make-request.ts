/** Creates a request. It first encrypts the texts for the request's user and counts the request against the limits. */
import type { Sealed } from '@cardea/crypto';
import { accept, type Command } from '@cardea/event-store';
import type { ServiceDependencies } from '@cardea/service';
import {
  type ApprovalRequest,
  type RequestFacts,
  requests,
  setSubjectOf,
  streamOf,
  subjectOf,
} from './request.ts';

/** Appends the first event of a stream that must not exist. A second writer receives the existing request. */
export async function makeRequest(
  { streams }: Pick<ServiceDependencies, 'streams'>,
  facts: RequestFacts,
  command: Command,
): Promise<{
  readonly request: ApprovalRequest;
  readonly position: bigint | undefined;
  readonly isNew: boolean;
}> {
  const decided = await streams.decideOn(requests, facts.id, command, {
    isNew: true,
    decide: (request) =>
      request.status === 'none' ? accept({ type: 'ApprovalRequested', data: facts }) : accept(),
  });
  const isNew = decided.position !== undefined && !decided.repeated;
  return { request: decided.state, position: decided.position, isNew };
}

/**
 * Encrypts a text of a request under its user's key. For a request to a set it uses the request's own key. Returns
 * `erased` if the user was deleted.
 */
export const sealWord = (
  { sealer }: Pick<ServiceDependencies, 'sealer'>,
  of: {
    readonly tenantId: string;
    readonly userId: string;
    readonly requestId: string;
    readonly isToSet: boolean;
  },
  field: 'reason' | 'code' | 'deny_reason' | 'comment' | 'details' | 'purpose',
  word: string,
): Promise<Sealed | 'erased'> =>
  sealer.seal(
    of.tenantId,
    {
      subject: of.isToSet
        ? setSubjectOf(of.tenantId, of.requestId)
        : subjectOf(of.tenantId, of.userId),
      streamId: streamOf(of.requestId),
      field,
    },
    word,
  );
