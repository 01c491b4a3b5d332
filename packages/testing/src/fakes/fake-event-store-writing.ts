/** Append, BatchAppend, Delete and Tombstone of the fake event store. */
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statuses from '@eventstore/db-client/generated/status_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import {
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import { failure, streamNameOf, uuidText } from './fake-event-store-protocol.ts';
import type { Appended, Expected, Proposed, Records } from './fake-event-store-records.ts';

/** The real server's default. */
const APPEND_BYTES_MAX = 1_048_576;

export type AppendCall = ServerReadableStream<AppendReq, AppendResp>;
export type BatchAppendCall = ServerDuplexStream<BatchAppendReq, BatchAppendResp>;
type Answer<T> = (error: ServiceError | null, answer?: T) => void;

/** Stores after the client has sent everything. */
export function append(records: Records, call: AppendCall, answer: Answer<AppendResp>): void {
  let options: AppendReq.Options | undefined;
  const proposed: Proposed[] = [];
  call.on('data', (request: AppendReq) => {
    options = request.getOptions() ?? options;
    const message = request.getProposedMessage();
    if (message !== undefined) proposed.push(proposedOf(message));
  });
  call.on('error', () => {}); // The client disconnected before it had sent everything.
  const finish = async (): Promise<void> => {
    // A connection that breaks ends the call too. The events sent by then are not an append.
    await new Promise(setImmediate);
    if (call.cancelled) return;
    const bytes = proposed.reduce((sum, each) => sum + each.data.length, 0);
    if (bytes > APPEND_BYTES_MAX) {
      const named = {
        exception: 'maximum-append-size-exceeded',
        'maximum-append-size': String(APPEND_BYTES_MAX),
      };
      answer(failure(status.INVALID_ARGUMENT, 'too large', named));
      return;
    }
    const stream = streamNameOf(options?.getStreamIdentifier());
    const outcome = records.append(stream, expectedOf(options), proposed);
    if ('deleted' in outcome) answer(deleted(stream));
    else answer(null, appendAnswer(outcome));
  };
  call.on('end', () => void finish());
}

const proposedOf = (
  message: AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage,
): Proposed => ({
  id: uuidText(message.getId()),
  facts: ['type', 'content-type'].map(
    (name) => [name, message.getMetadataMap().get(name) ?? ''] as const,
  ),
  customMetadata: message.getCustomMetadata_asU8(),
  data: message.getData_asU8(),
});

type Expecting = {
  hasRevision(): boolean;
  getRevision(): string;
  hasNoStream(): boolean;
  hasStreamExists(): boolean;
};

function expectedOf(options: Expecting | undefined): Expected {
  if (options?.hasRevision() === true) return BigInt(options.getRevision());
  if (options?.hasNoStream() === true) return 'no_stream';
  return options?.hasStreamExists() === true ? 'stream_exists' : 'any';
}

const deleted = (stream: string): ServiceError =>
  failure(status.FAILED_PRECONDITION, 'stream deleted', {
    exception: 'stream-deleted',
    'stream-name': stream,
  });

function appendAnswer(outcome: Exclude<Appended, { deleted: true }>): AppendResp {
  const answer = new messages.AppendResp();
  if (!outcome.stored) {
    const wrong = new messages.AppendResp.WrongExpectedVersion();
    if (outcome.current === 'no_stream') wrong.setCurrentNoStream(new shared.Empty());
    else wrong.setCurrentRevision(outcome.current.toString());
    return answer.setWrongExpectedVersion(wrong);
  }
  const { last } = outcome;
  const position = new messages.AppendResp.Position();
  position.setCommitPosition(last.position.toString());
  position.setPreparePosition(last.position.toString());
  const success = new messages.AppendResp.Success();
  success.setCurrentRevision(last.revision.toString());
  success.setPosition(position);
  return answer.setSuccess(success);
}

/** Implements only enough to show whether somebody uses it. */
export function batchAppend(records: Records, call: BatchAppendCall): void {
  call.on('data', (request: BatchAppendReq) => {
    const options = request.getOptions();
    const stream = streamNameOf(options?.getStreamIdentifier());
    const proposed = request.getProposedMessagesList().map(proposedOf);
    const expected: Expected =
      options?.hasStreamPosition() === true ? BigInt(options.getStreamPosition()) : 'any';
    const outcome = records.append(stream, expected, proposed);
    const answer = new messages.BatchAppendResp();
    answer.setCorrelationId(request.getCorrelationId());
    answer.setStreamIdentifier(options?.getStreamIdentifier());
    if ('deleted' in outcome || !outcome.stored) {
      const detail = new any.Any();
      detail.setTypeUrl('type.googleapis.com/event_store.client.WrongExpectedVersion');
      answer.setError(new statuses.Status().setDetails(detail));
    } else {
      const success = new messages.BatchAppendResp.Success();
      success.setCurrentRevision(outcome.last.revision.toString());
      answer.setSuccess(success);
    }
    call.write(answer);
  });
  call.on('error', () => {});
  call.on('end', () => call.end());
}

/** A soft delete, or a tombstone. It is refused with an error, not with a response. */
export function remove(
  records: Records,
  kind: 'soft' | 'tombstone',
  request: DeleteReq | TombstoneReq,
  answer: Answer<DeleteResp | TombstoneResp>,
): void {
  const options = request.getOptions();
  const stream = streamNameOf(options?.getStreamIdentifier());
  const expected = expectedOf(options);
  const outcome = records.remove(stream, kind, expected);
  if ('deleted' in outcome) {
    answer(deleted(stream));
    return;
  }
  if (!outcome.stored) {
    const { current } = outcome;
    const named = {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': String(expected),
      ...(current === 'no_stream' ? {} : { 'actual-version': String(current) }),
    };
    answer(failure(status.FAILED_PRECONDITION, 'wrong expected version', named));
    return;
  }
  const at = outcome.last.position.toString();
  if (kind === 'soft') {
    const position = new messages.DeleteResp.Position();
    position.setCommitPosition(at).setPreparePosition(at);
    answer(null, new messages.DeleteResp().setPosition(position));
  } else {
    const position = new messages.TombstoneResp.Position();
    position.setCommitPosition(at).setPreparePosition(at);
    answer(null, new messages.TombstoneResp().setPosition(position));
  }
}
