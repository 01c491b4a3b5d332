/** Time-based one-time passwords (RFC 6238): SHA-1, six digits, 30 s, as every authenticator app has them (`otpauth`). */
import { typedCode } from '@cardea/crypto';
import { Secret, TOTP } from 'otpauth';

const SECRET_BYTES = 20;
const DIGITS = 6;
const PERIOD_SECONDS = 30;
/** Steps before and after the current one that are accepted, because clocks differ. */
const WINDOW = 1;
const FORM = /^\d{6}$/;

export type TotpSecret = {
  /** Base 32. */
  readonly secret: string;
  /** For the QR code. */
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

/** 80 bits at least, as the authenticator apps of others have them. */
const IMPORTED_BYTES_MIN = 10;
const IMPORTED_BYTES_MAX = 64;
const BASE_32 = /^[A-Z2-7]+$/;

/** A secret that was made elsewhere, in its one form; undefined if it is none. */
export function readTotpSecret(text: string): string | undefined {
  const base32 = text.replaceAll(/[\s-]|=+$/g, '').toUpperCase();
  if (!BASE_32.test(base32)) return undefined;
  const { length } = Secret.fromBase32(base32).bytes;
  return length < IMPORTED_BYTES_MIN || length > IMPORTED_BYTES_MAX ? undefined : base32;
}

/** The step that a code is of, around this time; null if it is of none. */
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
