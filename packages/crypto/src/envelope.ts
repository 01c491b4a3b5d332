import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { type Random, systemRandom } from '@cardea/runtime';

/**
 * An encrypted value: `0x01 | header | nonce 12 | ciphertext | tag 16`, AES-256-GCM with a random nonce. The header is
 * the caller's, for example the version of a data key. A caller that needs it authenticated adds it to the AAD.
 */
const VERSION = 0x01;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
const NO_HEADER = Buffer.alloc(0);

/** The AAD: where the value is stored. A ciphertext that was moved elsewhere cannot be decrypted there. */
export type FieldBinding = readonly (string | Buffer)[];

/** The ciphertext was changed or moved, or the key is another one. */
export class Tampered extends Error {
  override readonly name = 'Tampered';
}

export function encrypt(
  key: KeyObject,
  plain: string | Buffer,
  place: FieldBinding,
  options: { readonly header?: Buffer; readonly random?: Random } = {},
): Buffer {
  const nonce = (options.random ?? systemRandom).bytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(lengthPrefixed(...place));
  const text = Buffer.concat([cipher.update(Buffer.from(plain)), cipher.final()]);
  const header = options.header ?? NO_HEADER;
  return Buffer.concat([Buffer.of(VERSION), header, nonce, text, cipher.getAuthTag()]);
}

/** Throws {@link Tampered}. No plaintext is returned before the tag was checked. */
export function decrypt(
  key: KeyObject,
  blob: Buffer,
  place: FieldBinding,
  headerBytes = 0,
): Buffer {
  const start = 1 + headerBytes;
  if (blob.length < start + NONCE_BYTES + TAG_BYTES || blob[0] !== VERSION) {
    throw new Tampered('The box has not the form of one.');
  }
  const nonce = blob.subarray(start, start + NONCE_BYTES);
  // Without this length, a tag of four bytes would be accepted.
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(lengthPrefixed(...place));
  decipher.setAuthTag(blob.subarray(-TAG_BYTES));
  const text = decipher.update(blob.subarray(start + NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([text, decipher.final()]);
  } catch {
    throw new Tampered('The box was changed or moved.');
  }
}

/** The raw header, which is not authenticated by itself. */
export function headerOf(blob: Buffer, headerBytes: number): Buffer {
  if (blob.length < 1 + headerBytes || blob[0] !== VERSION) {
    throw new Tampered('The box has not the form of one.');
  }
  return blob.subarray(1, 1 + headerBytes);
}

const PREFIX_BYTES = 4;

/**
 * Joins parts into one text that can be split in one way only: the length of each part precedes it (u32, big endian).
 * All hashed or authenticated texts are built here, so `('ab', 'c')` never equals `('a', 'bc')`.
 */
export function lengthPrefixed(...parts: readonly (string | Buffer)[]): Buffer {
  let size = parts.length * PREFIX_BYTES;
  for (const part of parts) size += Buffer.byteLength(part);
  const framed = Buffer.allocUnsafe(size);
  let at = 0;
  for (const part of parts) {
    const behind = at + PREFIX_BYTES;
    const length =
      typeof part === 'string' ? framed.write(part, behind) : part.copy(framed, behind);
    framed.writeUInt32BE(length, at);
    at = behind + length;
  }
  return framed;
}
