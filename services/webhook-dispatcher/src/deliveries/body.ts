/** The bytes that a receiver gets: event, timestamp and data, in this order and without spaces. */
import type { WebhookEvent } from '@cardea/contracts';

/** `data` is text, because a manual retry sends the same bytes again with a new timestamp. */
export const bodyOf = (event: WebhookEvent, at: Date, data: string): string =>
  `{"event":${JSON.stringify(event)},"timestamp":"${at.toISOString()}","data":${data}}`;

const DATA = ',"data":';

/** The text of `data` in a body that {@link bodyOf} made. Nothing before it can contain the same delimiter. */
export const dataOf = (body: string): string => body.slice(body.indexOf(DATA) + DATA.length, -1);
