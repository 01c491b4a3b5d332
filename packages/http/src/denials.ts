/** Which refusals of a known caller are recorded, and the port that records them. */
import type { Principal } from '@cardea/auth';
import type { Area, Contract, Request } from './endpoint.ts';
import type { Refusal } from './refusal.ts';

export type Denial = {
  readonly principal: Principal;
  readonly area: Area;
  /** The contract's name. */
  readonly operation: string;
  /** The error code of the response. */
  readonly reason: string;
  readonly status: number;
  readonly target: { readonly type: string; readonly id: string | null } | null;
  /** The context of the refused request; `commandId` belongs to this denial alone. */
  readonly request: Request<unknown, unknown, unknown>;
};

/** Records refusals in the log of the service that refused. */
export interface Denials {
  /** Never throws and is quick, because the response waits for it. */
  record(denial: Denial): Promise<void>;
  /**
   * Called every few seconds: records the refusals that were counted until their time is over; all of them
   * when the server stops.
   */
  flush(all?: boolean): Promise<void>;
}

const ALWAYS = new Set([401, 403]);
const ON_WRITES = new Set([409, 410, 422, 429]);

export function isRecorded(contract: Contract, { status, code }: Refusal): boolean {
  const own = contract.recordsItsRefusals;
  if (own === true || own?.includes(code)) return false;
  return ALWAYS.has(status) || (contract.method !== 'get' && ON_WRITES.has(status));
}
