/** Maps the library's message to the pipeline's request, for calls from the library back to Cardea. */
import type { OwnDenial, Request } from '@cardea/http';
import type { Message } from '../../adapters/authorization-ports.ts';

export type AnyRequest = Request<unknown, unknown, unknown>;
type Passed = {
  readonly request: AnyRequest;
  /** Sets the tenant that the response belongs to, so that other tenants' origins cannot read it. */
  readonly answered: (tenantId: string | undefined) => void;
  readonly recordDenial: (denial: OwnDenial) => Promise<void>;
  /** A moment before the client was read. */
  readonly receivedAt: Date;
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

const PENDING = new WeakSet<Message>();
/** Marks a device's poll as undecided. It is not counted as a failure of the device. */
export const rememberPending = (message: Message): void => {
  PENDING.add(message);
};
export const isPending = (message: Message): boolean => PENDING.has(message);

export const requestOf = (message: Message): AnyRequest => passedWith(message).request;

export const receivedAt = (message: Message): Date => passedWith(message).receivedAt;

export const answered = (message: Message, tenantId: string | undefined): void =>
  passedWith(message).answered(tenantId);

export const recordDenial = (message: Message, denial: OwnDenial): Promise<void> =>
  passedWith(message).recordDenial(denial);
