/** Whether a sign-in comes from a device or a location that is new for the account. */
export type SignInFrom = {
  readonly browser: string;
  readonly os: string;
  readonly device_type: string | null;
  /** The country if it is known, otherwise the network. Empty if neither is known. */
  readonly place: string;
};

/** The first sign-in of an account has nothing to be compared with. */
export const isNewDevice = (now: SignInFrom, before: readonly SignInFrom[]): boolean =>
  before.length > 0 &&
  !before.some(
    ({ browser, os, device_type, place }) =>
      browser === now.browser &&
      os === now.os &&
      device_type === now.device_type &&
      place === now.place,
  );
