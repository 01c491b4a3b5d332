/**
 * Time-based one-time passwords (RFC 6238) with SHA-1, six digits and 30 s, as all authenticator apps support
 * (`otpauth`).
 */
import { typedCode } from '@cardea/crypto';
import { Secret, TOTP } from 'otpauth';

const SECRET_BYTES = 20;
const DIGITS = 6;
const PERIOD_SECONDS = 30;
/** The number of accepted steps before and after the current one, because clocks differ. */
const WINDOW = 1;
const FORM = /^\d{6}$/;

export type TotpSecret = {
  /** The secret in base 32. */
  readonly secret: string;
  /** The URL for the QR code. */
  readonly url: string;
};

export function totpSecret(
  random: { bytes(length: number): Buffer },
  { issuer, account }: { readonly issuer: string; readonly account: string },
): TotpSecret {
  const bytes = random.bytes(SECRET_BYTES);
  const secret = new Secret({ buffer: new Uint8Array(bytes).buffer });
  const url = new TOTP({ ...parameters(secret), issuer, label: account }).toString();
  return { secret: secret.base32, url };
}

/** The minimum length of imported secrets is 80 bits, since other products use such short ones. */
const IMPORTED_BYTES_MIN = 10;
const IMPORTED_BYTES_MAX = 64;
const BASE_32 = /^[A-Z2-7]+$/;

/** Returns an imported secret in canonical form, or undefined if it is invalid. */
export function readTotpSecret(text: string): string | undefined {
  const base32 = text.replaceAll(/[\s-]|=+$/g, '').toUpperCase();
  if (!BASE_32.test(base32)) return undefined;
  const { length } = Secret.fromBase32(base32).bytes;
  return length < IMPORTED_BYTES_MIN || length > IMPORTED_BYTES_MAX ? undefined : base32;
}

/** The time step of a code near `now`. Null if the code is wrong. */
export function totpStep(secret: string, code: string, now: Date): number | null {
  const typed = typedCode(code);
  if (!FORM.test(typed)) return null;
  const totp = new TOTP(parameters(Secret.fromBase32(secret)));
  const timestamp = now.getTime();
  const delta = totp.validate({ token: typed, timestamp, window: WINDOW });
  return delta === null ? null : Math.floor(timestamp / 1000 / PERIOD_SECONDS) + delta;
}

const parameters = (secret: Secret) => ({
  secret,
  algorithm: 'SHA1',
  digits: DIGITS,
  period: PERIOD_SECONDS,
});
