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
