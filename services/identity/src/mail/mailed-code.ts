/**
 * The secret of a mailed code, short enough to be typed: eight characters of base 32, or six digits if the tenant
 * prefers that. Only a keyed hash of it is stored, as the id of a stream. A challenge names the mailbox and the
 * requester of a code, and proves that this deployment issued it.
 */
import {
  crockford,
  type DerivedKeys,
  hmac,
  readCrockford,
  sameBytes,
  sha256,
} from '@cardea/crypto';
import type { Random } from '@cardea/runtime';
import type { OtpFormat } from '../workspaces/workspaces.module.ts';

const CODE_BYTES = 5;
const DIGITS = 6;
const DIGITS_BYTES = 6;
const PART_BYTES = 16;
const CHALLENGE = /^ch_([A-Za-z0-9_-]{64})$/;

type MailedCode = {
  readonly format: OtpFormat;
  /** The code as {@link readCode} returns it. */
  readonly code: string;
};

export function drawCode(format: OtpFormat, random: Random): string {
  if (format === 'base32') return crockford(random.bytes(CODE_BYTES));
  const number = random.bytes(DIGITS_BYTES).readUIntBE(0, DIGITS_BYTES) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, '0');
}

/** The code in the form that people read. */
export const printCode = (code: string): string =>
  code.length === DIGITS ? code : `${code.slice(0, 4)}-${code.slice(4)}`;

/** Normalizes a typed code. Returns undefined if the text is no code. */
export function readCode(format: OtpFormat, typed: string): string | undefined {
  const code = readCrockford(typed);
  if (format === 'digits6') return code !== undefined && /^\d{6}$/.test(code) ? code : undefined;
  return code?.length === (CODE_BYTES * 8) / 5 ? code : undefined;
}

/**
 * The ids of the stream `onetime-<id>` under each secret of the deployment, the current one first. Six digits are not
 * unique, so their ids include the mailbox and its generation.
 */
export const codeIds = (
  { current, previous }: DerivedKeys,
  tenantId: string,
  { format, code }: MailedCode,
  of: { readonly mailbox: string; readonly generation: number } | undefined,
): readonly string[] => {
  const own = format === 'base32' || of === undefined ? [] : [of.mailbox, String(of.generation)];
  return [current, ...(previous === undefined ? [] : [previous])].map((key) =>
    hmac(key, 'code', tenantId, code, ...own).toString('hex'),
  );
};

/** `mailbox` has 32 hexadecimal digits, `asker` 16, as {@link askerOf} returns them. */
type Challenged = {
  readonly tenantId: string;
  readonly mailbox: string;
  readonly asker: string;
};

const ASKER_BYTES = 8;

/** The requester, shortened for a challenge. */
export const askerOf = (network: string): string =>
  sha256(`asker ${network}`).subarray(0, ASKER_BYTES).toString('hex');

export function drawChallenge(
  { current }: DerivedKeys,
  { tenantId, mailbox, asker }: Challenged,
  random: Random,
): string {
  const nonce = Buffer.concat([random.bytes(PART_BYTES - ASKER_BYTES), Buffer.from(asker, 'hex')]);
  const name = Buffer.from(mailbox, 'hex');
  const whole = Buffer.concat([nonce, name, macOf(current, tenantId, nonce, name)]);
  return `ch_${whole.toString('base64url')}`;
}

/** The mailbox and the requester of a challenge that was issued here for this tenant. */
export function mailboxOfChallenge(
  { current, previous }: DerivedKeys,
  tenantId: string,
  challenge: string,
): { readonly mailbox: string; readonly asker: string } | undefined {
  const text = CHALLENGE.exec(challenge)?.[1];
  if (text === undefined) return undefined;
  const whole = Buffer.from(text, 'base64url');
  const [nonce, name] = [whole.subarray(0, PART_BYTES), whole.subarray(PART_BYTES, 2 * PART_BYTES)];
  const mac = whole.subarray(2 * PART_BYTES).toString('hex');
  const isOurs = [current, ...(previous === undefined ? [] : [previous])].some((key) =>
    sameBytes(macOf(key, tenantId, nonce, name).toString('hex'), mac),
  );
  const asker = nonce.subarray(PART_BYTES - ASKER_BYTES).toString('hex');
  return isOurs ? { mailbox: name.toString('hex'), asker } : undefined;
}

const macOf = (key: Buffer, tenantId: string, nonce: Buffer, name: Buffer): Buffer =>
  hmac(key, 'challenge', tenantId, nonce, name).subarray(0, PART_BYTES);
