/** Whether somebody signs in by a device, or from a place, that the account was not used from before. */
export type SignInFrom = {
  readonly browser: string;
  readonly os: string;
  readonly device_type: string | null;
  /** The country, where it is known, else the network; empty for none. */
  readonly place: string;
};

/** Somebody's first sign-in has nothing that it could differ from. */
export const isNewDevice = (now: SignInFrom, before: readonly SignInFrom[]): boolean =>
  before.length > 0 &&
  !before.some(
    ({ browser, os, device_type, place }) =>
      browser === now.browser &&
      os === now.os &&
      device_type === now.device_type &&
      place === now.place,
  );
