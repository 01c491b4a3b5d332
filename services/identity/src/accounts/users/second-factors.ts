/**
 * The second factors of a user. They are part of the account, so a sign-in reads no other stream to know them. Their
 * secrets and their uses are in the streams `factor-<id>`.
 */

export type FactorType = 'totp' | 'passkey';

export type UserFactor = {
  readonly id: string;
  readonly type: FactorType;
  /** The time when the account got the factor. Missing in states that were stored before this field existed. */
  readonly at?: string;
};
export type SecondFactors = {
  readonly factors: readonly UserFactor[];
  /** The factor that contains the recovery codes. These are worthless without another factor. */
  readonly recoveryId: string | null;
};

export const NO_SECOND_FACTORS: SecondFactors = { factors: [], recoveryId: null };

export const hasSecondFactor = ({
  secondFactors,
}: {
  readonly secondFactors: SecondFactors;
}): boolean => secondFactors.factors.length > 0;

export type SecondFactorEvent =
  | {
      readonly type: 'FactorAdded';
      readonly concerns?: 'relay' | 'notify_security_changes' | 'users';
      readonly data: {
        readonly id: string;
        readonly factor_id: string;
        readonly factor_type: FactorType;
        readonly at: string;
      };
    }
  | {
      readonly type: 'FactorRemoved';
      readonly concerns?: 'relay' | 'notify_security_changes' | 'users';
      readonly data: {
        readonly id: string;
        readonly factor_id: string;
        readonly factor_type: FactorType;
        /** Whether the user has another second factor. */
        readonly mfa_enabled: boolean;
        readonly at: string;
      };
    }
  /** New recovery codes replace earlier ones. */
  | {
      readonly type: 'RecoveryCodesSet';
      readonly concerns?: 'relay' | 'notify_security_changes' | 'users';
      readonly data: { readonly id: string; readonly factor_id: string; readonly at: string };
    };

export function changedFactors(
  before: SecondFactors,
  { type, data }: SecondFactorEvent,
): SecondFactors {
  switch (type) {
    case 'FactorAdded':
      return {
        ...before,
        factors: [...before.factors, { id: data.factor_id, type: data.factor_type, at: data.at }],
      };
    case 'FactorRemoved': {
      const factors = before.factors.filter(({ id }) => id !== data.factor_id);
      return factors.length === 0 ? NO_SECOND_FACTORS : { ...before, factors };
    }
    case 'RecoveryCodesSet':
      return { ...before, recoveryId: data.factor_id };
  }
}

export const factorRemoved = (
  userId: string,
  { id: factor_id, type: factor_type }: UserFactor,
  { isLast, now }: { readonly isLast: boolean; readonly now: Date },
): SecondFactorEvent => {
  const data = { id: userId, factor_id, factor_type, mfa_enabled: !isLast };
  return { type: 'FactorRemoved', data: { ...data, at: now.toISOString() } };
};
