/** A refusal by a handler that authenticated its caller itself, because its endpoint is open to anyone. */
import type { Principal } from '@cardea/auth';

/** The service area in which a refusal of an endpoint is recorded (audit). */
export type Area = 'user' | 'admin' | 'agent' | 'vault' | 'authorization' | 'fga';

export type OwnDenial = {
  readonly principal: Principal;
  readonly area: Area;
  /** The contract's name. */
  readonly operation: string;
  /** The error code of the response. */
  readonly reason: string;
  readonly status: number;
};
