/** A projection as a sink of its log. It writes rows and checkpoint in one statement, then wakes waiting callers. */
import type { RecordedEvent } from '@cardea/event-store';
import type { Batch, Checkpoint, IdleCheckpoints, Sink } from '@cardea/log-follower';
import { errorCode, failpoint, type Logger, span } from '@cardea/runtime';
import type { PositionBoard } from './positions.ts';
import { Projector, type ProjectorOptions } from './projector.ts';

export type ProjectionSinkOptions = Omit<ProjectorOptions, 'rebuilding' | 'onParked'> & {
  readonly idle: IdleCheckpoints;
  readonly positions: PositionBoard;
  readonly log: Logger;
};

export function projectionSink(options: ProjectionSinkOptions): Sink {
  const { projection, positions, idle, log } = options;
  const onParked = (event: RecordedEvent, error: unknown): void => {
    const fields = { stream_id: event.streamId, event_type: event.type, code: errorCode(error) };
    log.error(fields, 'stream parked');
  };
  const projector = new Projector({ ...options, rebuilding: false, onParked });
  return {
    load: () => projector.load(),
    prepare: async () => {
      await failpoint('loop.stuck');
    },
    changes: async ({ events }: Batch<undefined>, checkpoint: Checkpoint) => {
      if (projector.isIdle(checkpoint, events)) return undefined;
      return () =>
        span('project', () => projector.apply(checkpoint, events), {
          attributes: { projection: projection.name, events: events.length },
          links: events.map(({ metadata }) => metadata.traceparent),
        });
    },
    setAside: (event, error, checkpoint) => projector.setAside(checkpoint, event, error),
    ignores: (events, checkpoint) => projector.isIdle(checkpoint, events),
    idle,
    moved: (position, events) => {
      positions.advance(projection.name, position);
      if (events.length > 0) projection.onCommitted?.(events);
    },
  };
}
