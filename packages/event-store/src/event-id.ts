import { uuidFrom } from '@cardea/runtime';

/** The id of an event follows from its command, its stream and its place, so a retry meets itself. */
export const eventId = (commandId: string, streamId: string, index: number): string =>
  uuidFrom('event', commandId, streamId, String(index));
