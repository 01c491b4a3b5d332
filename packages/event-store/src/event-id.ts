import { hash } from 'node:crypto';

/** The id of an event follows from its command, its stream and its place, so a retry meets itself. */
export const eventId = (commandId: string, streamId: string, index: number): string =>
  derivedId('event', commandId, streamId, String(index));

/** The same parts give the same id (UUIDv8 of a SHA-256), in every process and for ever. */
export function derivedId(...parts: readonly string[]): string {
  const bytes = hash('sha256', JSON.stringify(parts), 'buffer').subarray(0, 16);
  bytes[6] = (bytes.readUInt8(6) & 0x0f) | 0x80;
  bytes[8] = (bytes.readUInt8(8) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
