/** The request of the pipeline beside the message that it came in, for what the library calls back. */
import type { Request } from '@cardea/http';
import type { Message } from '../../adapters/authorization-ports.ts';

export type AnyRequest = Request<unknown, unknown, unknown>;
type Passed = {
  readonly request: AnyRequest;
  /** Says whose answer it is, so that origins of other tenants cannot read it. */
  readonly answered: (tenantId: string | undefined) => void;
};

const PASSED = new WeakMap<Message, Passed>();

export const rememberRequest = (message: Message, passed: Passed): void => {
  PASSED.set(message, passed);
};

function passedWith(message: Message): Passed {
  const passed = PASSED.get(message);
  if (passed === undefined) throw new Error('a message that came in by no endpoint');
  return passed;
}

export const requestOf = (message: Message): AnyRequest => passedWith(message).request;

export const answered = (message: Message, tenantId: string | undefined): void =>
  passedWith(message).answered(tenantId);
