/** base64url in its only accepted spelling: no padding, no other characters, no bits that decoding drops. */
export function canonicalBytes(segment: string): Buffer | undefined {
  const bytes = Buffer.from(segment, 'base64url');
  return bytes.length > 0 && bytes.toString('base64url') === segment ? bytes : undefined;
}
