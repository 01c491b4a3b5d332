/** How the fake event store encodes ids, names and refusals on the wire. */
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { Metadata, type ServiceError, type status } from '@grpc/grpc-js';

const HALF_BITS = 64;
const HALF_DIGITS = 16;

export const streamNameOf = (identifier: StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');

/** The client reads these names from the trailing metadata, as the real server sends them. */
export function failure(
  code: status,
  details: string,
  named: { readonly [name: string]: string } = {},
): ServiceError {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(named)) metadata.set(name, value);
  return Object.assign(new Error(details), { code, details, metadata, name: 'StandIn' });
}

export function uuidText(uuid: UUID | undefined): string {
  const structured = uuid?.getStructured();
  if (structured === undefined) return uuid?.getString() ?? '';
  const digits = [structured.getMostSignificantBits(), structured.getLeastSignificantBits()]
    .map((half) => BigInt.asUintN(HALF_BITS, BigInt(half)).toString(16))
    .map((half) => half.padStart(HALF_DIGITS, '0'))
    .join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export function uuidMessage(text: string, isStructured: boolean): UUID {
  const message = new shared.UUID();
  if (!isStructured) return message.setString(text);
  const digits = text.replaceAll('-', '');
  const half = (from: number): string =>
    BigInt.asIntN(HALF_BITS, BigInt(`0x${digits.slice(from, from + HALF_DIGITS)}`)).toString();
  const structured = new shared.UUID.Structured();
  structured.setMostSignificantBits(half(0));
  structured.setLeastSignificantBits(half(HALF_DIGITS));
  return message.setStructured(structured);
}
