/**
 * A second factor: its secret, and the record of its uses. The account lists its valid factors. A factor that was never
 * confirmed is in no list.
 */
import type { Sealed } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';

type Common = {
  readonly id: string;
  readonly user_id: string;
  readonly name: Sealed | null;
  readonly enrolled_at: string;
  readonly last_used_at: string | null;
};
export type TotpFacts = Common & {
  readonly type: 'totp';
  /** The encrypted secret, in base 32. */
  readonly secret: Sealed;
  /** Codes of this step and of earlier ones are no longer accepted. */
  readonly last_step: number;
};
export type RecoveryFacts = Common & {
  readonly type: 'recovery';
  /** Keyed hashes of the unused codes. */
  readonly code_hashes: readonly string[];
};
export type PasskeyFacts = Common & {
  readonly type: 'passkey';
  /** A `PasskeyCredential` as encrypted JSON. */
  readonly credential: Sealed;
  readonly counter: number;
  readonly device_type: 'singleDevice' | 'multiDevice';
  readonly backed_up: boolean;
};
export type FactorFacts = TotpFacts | RecoveryFacts | PasskeyFacts;
export type Factor = { readonly type: 'none' } | FactorFacts;

export type FactorEvent =
  | { readonly type: 'FactorEnrolled'; readonly concerns?: 'relay'; readonly data: FactorFacts }
  | {
      readonly type: 'FactorUsed';
      readonly concerns?: 'notify_security_changes';
      readonly data: FactorFacts;
    }
  | { readonly type: 'FactorRenamed'; readonly concerns?: never; readonly data: FactorFacts };

export const factors: Stream<Factor, FactorEvent> = {
  noun: 'factor',
  initial: { type: 'none' },
  stateCarrying: true,
  evolve: (_before, { type, data }) => {
    switch (type) {
      case 'FactorEnrolled':
      case 'FactorUsed':
      case 'FactorRenamed':
        return data;
    }
  },
};
