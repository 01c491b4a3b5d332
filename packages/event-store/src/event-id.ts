import { uuidFrom } from '@cardea/runtime';

/** Derives the id of an event from its command, its stream and its index, so a retry has the same ids. */
export const eventId = (commandId: string, streamId: string, index: number): string =>
  uuidFrom('event', commandId, streamId, String(index));
