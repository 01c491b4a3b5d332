export { type BackOff, backOff } from './back-off.ts';
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
} from './checkpoint.ts';
export { errorCode, isConnectionLost, isOutage, NotCaughtUp } from './failures.ts';
export { type FollowedIndex, followedIndex } from './followed-index.ts';
export { type Batch, LogFollower, type Sink } from './follower.ts';
export { type IdleCheckpoints, idleCheckpoints } from './idle-checkpoints.ts';
export type { Lease, Leases } from './lease.ts';
export { type LogReader, openLogReader, PAGE_EVENTS_MAX } from './log-reader.ts';
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
} from './parked-events.ts';
export { runUntil, type Turn } from './run-until.ts';
export { waiters } from './waiters.ts';
