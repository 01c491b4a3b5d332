export {
  type Checkpoint,
  type CheckpointOf,
  Fenced,
  loadCheckpoint,
  type Move,
  moveCheckpoint,
  moveCheckpoints,
  moveStep,
  ownerOf,
  positionsChannel,
} from './checkpoints/checkpoint.ts';
export { type IdleCheckpoints, idleCheckpoints } from './checkpoints/idle-checkpoints.ts';
export { applyOrSetAside, asOutage, isOutage, NotCaughtUp } from './failures/failures.ts';
export {
  discardParkedStream,
  PARKED_CHANNEL,
  type ParkedEvent,
  type ParkedOwner,
  type ParkedStream,
  park,
  parkedEvent,
  parkedPositions,
  parkedStreams,
  parkStep,
  type Released,
  unpark,
  waitingEvents,
  waitingPositions,
} from './failures/parked-events.ts';
export { type FollowedIndex, followedIndex } from './followed-index.ts';
export { LogFollower } from './follower.ts';
export { type LogReader, openLogReader, PAGE_EVENTS_MAX } from './log-reader.ts';
export { type BackOff, backOff, runUntil, type Turn } from './run-until.ts';
export type { Batch, Sink } from './sink.ts';
export { waiters } from './waiters.ts';
