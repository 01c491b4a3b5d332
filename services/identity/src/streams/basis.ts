/**
 * What a deferred credential rests on: a code, link or token that is used some time after it was issued. Its
 * basis is recorded with it, and the credential is void once any part of the basis has ended.
 */
export type Basis = {
  /**
   * The account's epoch at issue. It rises when the password is set, when all sessions are ended, and when the
   * account is disabled or reclaimed.
   */
  readonly user_epoch?: number | undefined;
  /** The session that the credential belongs to or came from; one that the user kept outlives its epoch. */
  readonly sid?: string | undefined;
  readonly consent?: { readonly id: string; readonly epoch: number } | undefined;
  /** Rises with each change of what the application may do. */
  readonly application?: { readonly id: string; readonly version: number } | undefined;
};

/** The same facts as they are now. */
export type BasisNow = {
  readonly user: {
    readonly active: boolean;
    readonly epoch: number;
    readonly keepSid: string | null;
  };
  /** The session was neither ended by itself nor has it expired. */
  readonly sessionGoesOn: boolean;
  /** Null: withdrawn, or its application was deleted. */
  readonly consentEpoch: number | null;
  /** Null: deleted. */
  readonly applicationVersion: number | null;
};

/** A credential that names no session, consent or application depends on none. */
const UNNAMED: Omit<BasisNow, 'user'> = {
  sessionGoesOn: true,
  consentEpoch: null,
  applicationVersion: null,
};

export function stands(
  { user_epoch: epoch, sid, consent, application }: Basis,
  now: Pick<BasisNow, 'user'> & Partial<BasisNow>,
): boolean {
  const { user, sessionGoesOn, consentEpoch, applicationVersion } = { ...UNNAMED, ...now };
  const isKept = sid !== undefined && sid === user.keepSid;
  if (epoch !== undefined && !(user.active && (epoch === user.epoch || isKept))) return false;
  if (sid !== undefined && !sessionGoesOn) return false;
  if (consent !== undefined && consent.epoch !== consentEpoch) return false;
  return application === undefined || application.version === applicationVersion;
}
