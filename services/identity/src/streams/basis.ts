/**
 * The basis of a deferred credential, which is a code, link or token that is used some time after it was issued. The
 * basis is recorded with the credential. The credential is void once any part of its basis has ended.
 */
export type Basis = {
  /**
   * The account's epoch at issue. It rises when the password is set, when all sessions are ended, and when the
   * account is disabled or reclaimed.
   */
  readonly user_epoch?: number | undefined;
  /** The session that the credential belongs to or came from. A session that the user kept outlives its epoch. */
  readonly sid?: string | undefined;
  readonly consent?: { readonly id: string; readonly epoch: number } | undefined;
  /** The version rises with each change of what the application may do. */
  readonly application?: { readonly id: string; readonly version: number } | undefined;
};

/** The current values of the same facts. */
export type BasisNow = {
  readonly user: {
    readonly active: boolean;
    readonly epoch: number;
    readonly keepSid: string | null;
  };
  /** Whether the session has neither been ended nor expired. */
  readonly sessionGoesOn: boolean;
  /** Null if the consent was withdrawn or its application was deleted. */
  readonly consentEpoch: number | null;
  /** Null if the application was deleted. */
  readonly applicationVersion: number | null;
};

/** A credential without a session, consent or application does not depend on any. */
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
