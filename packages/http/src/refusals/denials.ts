/** Which refusals of a known caller are recorded, and the port that records them. */
import type { Contract } from '../contract/contract.ts';
import type { Request } from '../contract/endpoint.ts';
import type { OwnDenial } from '../own-denial.ts';
import type { Refusal } from './refusal.ts';

export type Denial = OwnDenial & {
  readonly target: { readonly type: string; readonly id: string | null } | null;
  /** The context of the refused request. `commandId` belongs to this denial alone. */
  readonly request: Request<unknown, unknown, unknown>;
};

/** Records refusals in the log of the service that refused. */
export interface Denials {
  /** Never throws and is quick, because the response waits for it. */
  record(denial: Denial): Promise<void>;
  /**
   * Called every few seconds to record the refusals whose counting time is over. When the server stops, `all` is true
   * and it records all of them.
   */
  flush(all?: boolean): Promise<void>;
}

const ALWAYS = new Set([401, 403]);
const ON_WRITES = new Set([409, 410, 422, 429]);

export function isRecorded(
  contract: Pick<Contract, 'method' | 'recordsItsRefusals'>,
  { status, code }: Pick<Refusal, 'status' | 'code'>,
): boolean {
  const own = contract.recordsItsRefusals;
  if (own?.includes(code)) return false;
  return ALWAYS.has(status) || (contract.method !== 'get' && ON_WRITES.has(status));
}
