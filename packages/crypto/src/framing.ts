const PREFIX_BYTES = 4;

/**
 * Parts as one text that can be cut in one way only: each behind its length (u32, big endian). What is
 * hashed or authenticated goes through here, so that `('ab', 'c')` is never `('a', 'bc')`.
 */
export function lengthPrefixed(...parts: readonly (string | Buffer)[]): Buffer {
  const lengths = parts.map((part) => Buffer.byteLength(part));
  const framed = Buffer.allocUnsafe(
    lengths.reduce((sum, length) => sum + PREFIX_BYTES + length, 0),
  );
  let at = 0;
  for (const [index, part] of parts.entries()) {
    at = framed.writeUInt32BE(lengths[index] as number, at);
    if (typeof part === 'string') at += framed.write(part, at);
    else at += part.copy(framed, at);
  }
  return framed;
}
