/** The request of the pipeline beside the message that it came in, for what the library calls back. */
import type { Request } from '@cardea/http';
import type { Message } from '../../adapters/authorization-ports.ts';

export type AnyRequest = Request<unknown, unknown, unknown>;

const REQUESTS = new WeakMap<Message, AnyRequest>();

export const rememberRequest = (message: Message, request: AnyRequest): void => {
  REQUESTS.set(message, request);
};

export function requestOf(message: Message): AnyRequest {
  const request = REQUESTS.get(message);
  if (request === undefined) throw new Error('a message that came in by no endpoint');
  return request;
}
