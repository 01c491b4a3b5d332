/** Decodes base64url in its only accepted form: no padding, no other characters, no bits that decoding would drop. */
export function canonicalBytes(segment: string): Buffer | undefined {
  const bytes = Buffer.from(segment, 'base64url');
  return bytes.length > 0 && bytes.toString('base64url') === segment ? bytes : undefined;
}
