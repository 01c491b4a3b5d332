/** Refused vends of an agent. No decision depends on them, so only the last event is ever loaded. */
import { accept, type Stream } from '@cardea/event-store';

/** Only names of registered services and fields; anything else that was sent is null. */
export type Refused = {
  readonly agent_id: string;
  /** The error code in the response. */
  readonly code: string;
  readonly session_id: string | null;
  readonly service_id: string | null;
  readonly service_name: string | null;
  readonly fields: readonly string[] | null;
};
export type VendRefused = {
  readonly type: 'VendRefused';
  readonly data: Refused & { readonly count: number };
};

/** The stream's id is the agent's. */
export const refusals: Stream<null, VendRefused> = {
  noun: 'refusals',
  initial: null,
  stateCarrying: true,
  evolve: () => null,
};

export const refuseVend = (data: VendRefused['data']) =>
  accept({ type: 'VendRefused', data } as const);
