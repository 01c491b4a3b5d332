/**
 * A registration for an address that was taken. It records as many events as a successful one, so neither time nor load
 * reveals the difference.
 */
import { accept, type Decision, type Stream } from '@cardea/event-store';

export type RegistrationEvent = {
  readonly type: 'RegistrationRefused';
  readonly concerns?: never;
  readonly data: { readonly part: number };
};

export const registrations: Stream<null, RegistrationEvent> = {
  noun: 'registration',
  initial: null,
  evolve: () => null,
};

export const registrationRefused = (part: number): Decision<RegistrationEvent, never> =>
  accept({ type: 'RegistrationRefused', data: { part } });
