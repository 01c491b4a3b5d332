/** Writes a small database in MaxMind's format (version 2.0): addresses and their locations. */
import { writeFile } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';

export type GeoRow = {
  /** An IPv4 or IPv6 network, `203.0.113.0/24`. */
  readonly network: string;
  readonly city?: string;
  readonly region?: string;
  readonly country?: string;
};

const RECORD_BYTES = 3;
const SEPARATOR_BYTES = 16;
const ADDRESS_BITS = 128;
const IPV4_OFFSET = 96;
const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const TYPES = { string: 2, uint16: 5, uint32: 6, map: 7, uint64: 9, array: 11 } as const;

type Value = string | { readonly uint: number; readonly bits: 16 | 32 | 64 } | Value[] | Fields;
type Fields = { readonly [name: string]: Value };
type Node = [Node | number | undefined, Node | number | undefined];

export async function writeGeoDatabase(path: string, rows: readonly GeoRow[]): Promise<void> {
  const tree: Node = [undefined, undefined];
  const data: Buffer[] = [];
  let length = 0;
  for (const row of rows) {
    const bytes = encode(fieldsOf(row));
    place(tree, row.network, length);
    data.push(bytes);
    length += bytes.length;
  }
  const nodes = listed(tree);
  const records = nodes.flatMap((node) =>
    node.map((side) => {
      if (side === undefined) return nodes.length;
      return typeof side === 'number' ? side + nodes.length + SEPARATOR_BYTES : nodes.indexOf(side);
    }),
  );
  const search = Buffer.concat(records.map((record) => uint(record, RECORD_BYTES)));
  const metadata = encode({
    binary_format_major_version: { uint: 2, bits: 16 },
    binary_format_minor_version: { uint: 0, bits: 16 },
    build_epoch: { uint: Math.floor(Date.now() / 1000), bits: 64 },
    database_type: 'GeoLite2-City',
    description: { en: 'written by a test' },
    ip_version: { uint: 6, bits: 16 },
    languages: ['en'],
    node_count: { uint: nodes.length, bits: 32 },
    record_size: { uint: RECORD_BYTES * 8, bits: 16 },
  });
  const separator = Buffer.alloc(SEPARATOR_BYTES);
  await writeFile(path, Buffer.concat([search, separator, ...data, MARKER, metadata]));
}

const fieldsOf = ({ city, region, country }: GeoRow): Fields => ({
  ...(city === undefined ? {} : { city: { names: { en: city } } }),
  ...(region === undefined ? {} : { subdivisions: [{ names: { en: region } }] }),
  ...(country === undefined ? {} : { country: { iso_code: country, names: { en: country } } }),
});

function place(tree: Node, network: string, offset: number): void {
  const [address, prefix] = ipaddr.parseCIDR(network);
  const isShort = address.kind() === 'ipv4';
  const bits = [
    ...(isShort ? Array<number>(IPV4_OFFSET).fill(0) : []),
    ...address.toByteArray().flatMap((byte) => [...byte.toString(2).padStart(8, '0')].map(Number)),
  ].slice(0, isShort ? IPV4_OFFSET + prefix : Math.min(prefix, ADDRESS_BITS));
  let node = tree;
  for (const bit of bits.slice(0, -1)) {
    const next = node[bit === 1 ? 1 : 0];
    const child: Node = typeof next === 'object' ? next : [undefined, undefined];
    node[bit === 1 ? 1 : 0] = child;
    node = child;
  }
  node[bits.at(-1) === 1 ? 1 : 0] = offset;
}

const listed = (node: Node): readonly Node[] => [
  node,
  ...node.flatMap((side) => (typeof side === 'object' ? listed(side) : [])),
];

function encode(value: Value): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([control(TYPES.string, text.length), text]);
  }
  if (Array.isArray(value)) {
    return Buffer.concat([control(TYPES.array, value.length), ...value.map(encode)]);
  }
  if (isUint(value)) {
    const type = { 16: TYPES.uint16, 32: TYPES.uint32, 64: TYPES.uint64 }[value.bits];
    const bytes = Math.ceil(value.uint.toString(2).length / 8);
    return Buffer.concat([control(type, bytes), uint(value.uint, bytes)]);
  }
  const fields = Object.entries(value).flatMap(([name, each]) => [encode(name), encode(each)]);
  return Buffer.concat([control(TYPES.map, fields.length / 2), ...fields]);
}

const isUint = (value: Value): value is { readonly uint: number; readonly bits: 16 | 32 | 64 } =>
  typeof value === 'object' && 'uint' in value;

const SHORT_TYPES_MAX = 7;
const SHORT_SIZE_MAX = 28;

/** Types above seven need a separate byte. Tests need no value longer than 284 bytes. */
function control(type: number, size: number): Buffer {
  const length = size <= SHORT_SIZE_MAX ? [size] : [SHORT_SIZE_MAX + 1, size - SHORT_SIZE_MAX - 1];
  const [first = 0, ...more] = length;
  return type <= SHORT_TYPES_MAX
    ? Buffer.from([(type << 5) | first, ...more])
    : Buffer.from([first, type - SHORT_TYPES_MAX, ...more]);
}

function uint(value: number, bytes: number): Buffer {
  const made = Buffer.alloc(bytes);
  if (bytes > 0) made.writeUIntBE(value, 0, bytes);
  return made;
}
