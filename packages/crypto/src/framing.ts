/**
 * Parts as one text that can be cut in one way only: each behind its length (u32, big endian). What is
 * hashed or authenticated goes through here, so that `('ab', 'c')` is never `('a', 'bc')`.
 */
export function lengthPrefixed(...parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = typeof part === 'string' ? Buffer.from(part) : part;
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}
