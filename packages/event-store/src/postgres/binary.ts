/** Arrays in PostgreSQL's binary format: `pg` sends a Buffer unchanged, which saves quoting and parsing. */
const TEXT = 25;
const INT2 = 21;
const INT4 = 23;
const INT8 = 20;
const UUID = 2950;
const JSONB = 3802;
const TIMESTAMPTZ = 1184;

/** PostgreSQL counts microseconds from 2000-01-01. */
const EPOCH_MS = Date.UTC(2000, 0, 1);
const HEADER_BYTES = 20;

export const textArray = (values: readonly string[]): Buffer => variable(TEXT, values, '');
/** Takes JSON texts; the format puts the version number 1 before each. */
export const jsonbArray = (values: readonly string[]): Buffer => variable(JSONB, values, '\u0001');

export const int2Array = (values: readonly number[]): Buffer =>
  fixed(INT2, 2, values, (buffer, value, at) => buffer.writeInt16BE(value, at));
export const int4Array = (values: readonly number[]): Buffer =>
  fixed(INT4, 4, values, (buffer, value, at) => buffer.writeInt32BE(value, at));
export const int8Array = (values: readonly number[]): Buffer =>
  fixed(INT8, 8, values, (buffer, value, at) => buffer.writeBigInt64BE(BigInt(value), at));
export const timestampArray = (values: readonly Date[]): Buffer =>
  fixed(TIMESTAMPTZ, 8, values, (buffer, value, at) =>
    buffer.writeBigInt64BE(BigInt(value.getTime() - EPOCH_MS) * 1000n, at),
  );
export const uuidArray = (values: readonly string[]): Buffer =>
  fixed(UUID, 16, values, (buffer, value, at) => {
    const written = buffer.write(value.replaceAll('-', ''), at, 16, 'hex');
    if (written !== 16 || value.length !== 36) throw new TypeError('an event id is a UUID');
  });

function variable(type: number, values: readonly string[], prefix: string): Buffer {
  let size = HEADER_BYTES;
  for (const value of values) size += 4 + prefix.length + Buffer.byteLength(value);
  const buffer = withHeader(type, size, values.length);
  let at = HEADER_BYTES;
  for (const value of values) {
    const start = at + 4 + buffer.write(prefix, at + 4, 'latin1');
    const end = start + buffer.write(value, start, 'utf8');
    buffer.writeInt32BE(end - at - 4, at);
    at = end;
  }
  return buffer;
}

function fixed<T>(
  type: number,
  width: number,
  values: readonly T[],
  write: (buffer: Buffer, value: T, at: number) => void,
): Buffer {
  const buffer = withHeader(type, HEADER_BYTES + values.length * (4 + width), values.length);
  let at = HEADER_BYTES;
  for (const value of values) {
    buffer.writeInt32BE(width, at);
    write(buffer, value, at + 4);
    at += 4 + width;
  }
  return buffer;
}

function withHeader(type: number, size: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(size);
  for (const [index, value] of [1, 0, type, length, 1].entries()) {
    buffer.writeInt32BE(value, index * 4); // dimensions, no nulls, type, length, first index
  }
  return buffer;
}
