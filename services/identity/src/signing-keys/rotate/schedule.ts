/**
 * Rotates keys by age. The next key is published a day before it signs, because verifiers cache the set for half a day.
 * A retired key leaves the set after its last token has expired.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  activeKey,
  added,
  type Keyring,
  type KeyringEvent,
  type KeyringKey,
  type NewKey,
  pendingKey,
} from '../keyring.ts';
import { promoteKey } from './rotate.ts';

/** How long a scheduled key is published before it signs. */
export const PENDING_MS = 24 * 3600_000;

export type Schedule = { readonly now: Date; readonly rotateAfterMs: number };

/** Returns when the next key has to be published. Undefined if one is published, or if no key signs yet. */
const announcementDue = (ring: Keyring, { rotateAfterMs }: Schedule): Date | undefined => {
  const active = activeKey(ring);
  if (active?.activatedAt == null || pendingKey(ring) !== undefined) return undefined;
  return new Date(new Date(active.activatedAt).getTime() + rotateAfterMs - PENDING_MS);
};

export function isAnnouncementDue(ring: Keyring, schedule: Schedule): boolean {
  const due = announcementDue(ring, schedule);
  return due !== undefined && due <= schedule.now;
}

/** Decides everything that is due by now. `next` is generated only if {@link isAnnouncementDue}. */
export function keepSchedule(
  next: NewKey | undefined,
  schedule: Schedule,
  ring: Keyring,
): Decision<KeyringEvent, 'nothing_due'> {
  const { now } = schedule;
  const pending = pendingKey(ring);
  const isDue = (time: string | null): boolean => time !== null && new Date(time) <= now;
  const removed = ring.keys
    .filter(({ state, publishUntil }) => state === 'retired' && isDue(publishUntil))
    .map(({ kid }: KeyringKey): KeyringEvent => ({ type: 'KeyRemoved', data: { kid } }));
  const promoted =
    pending !== undefined && isDue(pending.activateAt)
      ? promoteKey(pending.kid, now, ring).events
      : [];
  const announced =
    next !== undefined && isAnnouncementDue(ring, schedule)
      ? [added(next, now, signsFrom(ring, schedule))]
      : [];
  const events = [...promoted, ...announced, ...removed];
  return events.length === 0 ? refuse('nothing_due') : accept<KeyringEvent>(...events);
}

/** The key signs when the active key reaches its maximum age, but at least a day after its own publication. */
function signsFrom(ring: Keyring, schedule: Schedule): Date {
  const due = announcementDue(ring, schedule) ?? schedule.now;
  return new Date(Math.max(due.getTime(), schedule.now.getTime()) + PENDING_MS);
}
