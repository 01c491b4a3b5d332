/** Mutes an agent towards a user, because the user asked for it or after repeated denials. */
import { accept, type Decision } from '@cardea/event-store';
import { DENIALS_TO_MUTE, DENIALS_WINDOW_MS, MUTE_MS } from '../limits.ts';
import type { Queue, QueueChanged } from './queue.ts';

/** A later, shorter mute never shortens an earlier one. */
export function mute(until: Date, queue: Queue): Decision<QueueChanged, never> {
  const standing = queue.muted_until === null ? 0 : Date.parse(queue.muted_until);
  if (standing >= until.getTime()) return accept();
  return accept({ type: 'QueueChanged', data: { ...queue, muted_until: until.toISOString() } });
}

/** Counts a denial. The third within an hour mutes the agent for an hour, and the count restarts. */
export function countDenial(deniedAt: Date, queue: Queue): Decision<QueueChanged, never> {
  const at = deniedAt.toISOString();
  const after = deniedAt.getTime() - DENIALS_WINDOW_MS;
  const denials = [...queue.denials.filter((time) => Date.parse(time) > after), at];
  if (denials.length < DENIALS_TO_MUTE) {
    return accept({ type: 'QueueChanged', data: { ...queue, denials } });
  }
  const end = new Date(deniedAt.getTime() + MUTE_MS).toISOString();
  const standing = queue.muted_until;
  const muted_until = standing !== null && standing > end ? standing : end;
  return accept({ type: 'QueueChanged', data: { ...queue, denials: [], muted_until } });
}
