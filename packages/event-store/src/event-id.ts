import { uuidFrom } from '@cardea/runtime';

/** The id of an event is derived from its command, its stream and its index, so a retry has the same ids. */
export const eventId = (commandId: string, streamId: string, index: number): string =>
  uuidFrom('event', commandId, streamId, String(index));
