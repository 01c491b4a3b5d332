/**
 * Saves indexes as files: the raw arrays after a header, with an HMAC over both. A file is either complete or absent. A
 * file that is damaged, forged, or of another deployment or release is deleted, and the index is read from the table.
 */
import { createHash, createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '@cardea/runtime';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { SavedGraph } from '../engine/tuple-index.ts';

/** Increase it whenever the meaning of the arrays changes. */
const FORMAT = 5;
/** The arrays can be read only on a machine with the same byte order. */
const MAGIC = Uint32Array.of(0x44524143, 0x31414549, FORMAT, 0x01020304);
const HMAC_BYTES = 32;
const HEAD_BYTES_MAX = 16 * 1024 * 1024;
/** The size of a piece that is written, read or hashed between two turns of the event loop. */
const PIECE_BYTES = 1024 * 1024;
const SUFFIX = '.tuples';
const TEMPORARY = '.tmp';

export type Snapshot = { readonly position: bigint; readonly saved: SavedGraph };
/**
 * A file can be used only if all of these are unchanged: the log's epoch, the table's epoch, the parked
 * streams.
 */
export type Basis = string;

export type SnapshotFiles = {
  /**
   * Returns false if `isCurrent` became false before the end; then nothing is written. Throws if the folder is not
   * writable.
   */
  write(tenantId: string, snapshot: Snapshot, of: Writing): Promise<boolean>;
  /** Returns undefined if there is no file, or none that can be trusted. */
  read(tenantId: string, basis: Basis): Promise<Snapshot | undefined>;
  remove(tenantId: string): Promise<void>;
  /** Removes files that a killed process left incomplete. */
  tidy(): Promise<void>;
};
type Writing = { readonly basis: Basis; readonly isCurrent: () => boolean };

const headForm = Compile(
  Type.Object({
    tenantId: Type.String(),
    basis: Type.String(),
    position: Type.String({ pattern: '^[0-9]{1,19}$' }),
    lengths: Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 32 }), { maxItems: 16 }),
    state: Type.Unknown(),
  }),
);

export function snapshotFiles(folder: string, key: Buffer, nextId: () => string): SnapshotFiles {
  const pathOf = (tenantId: string) =>
    join(folder, `${createHash('sha256').update(tenantId).digest('hex')}${SUFFIX}`);
  const remove = (tenantId: string) => rm(pathOf(tenantId), { force: true });
  return {
    remove,
    write: async (tenantId, snapshot, { basis, isCurrent }) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const temporary = `${pathOf(tenantId)}.${nextId()}${TEMPORARY}`;
      try {
        const file = await open(temporary, 'wx', 0o600);
        try {
          const parts = partsOf(tenantId, basis, snapshot);
          if (!(await writeAll(file, parts, { key, isCurrent }))) return false;
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, pathOf(tenantId));
        return true;
      } finally {
        await rm(temporary, { force: true });
      }
    },
    read: async (tenantId, basis) => {
      const file = await open(pathOf(tenantId)).catch(() => undefined);
      if (file === undefined) return undefined;
      try {
        const snapshot = await readAll(file, { key, tenantId, basis });
        if (snapshot === undefined) await remove(tenantId);
        return snapshot;
      } finally {
        await file.close();
      }
    },
    tidy: async () => {
      const names = await readdir(folder).catch(() => []);
      for (const name of names) {
        if (!name.endsWith(TEMPORARY) || !name.includes(SUFFIX)) continue;
        await rm(join(folder, name), { force: true });
      }
    },
  };
}

function partsOf(tenantId: string, basis: Basis, { position, saved }: Snapshot): Uint8Array[] {
  const { state, words } = saved;
  const lengths = words.map(({ length }) => length);
  const text = JSON.stringify({ tenantId, basis, position: String(position), lengths, state });
  const head = Buffer.from(text);
  return [bytesOf(MAGIC), bytesOf(Uint32Array.of(head.length)), head, ...words.map(bytesOf)];
}

async function writeAll(
  file: FileHandle,
  parts: readonly Uint8Array[],
  { key, isCurrent }: { readonly key: Buffer; readonly isCurrent: () => boolean },
): Promise<boolean> {
  const hmac = createHmac('sha256', key);
  if ((parts[2]?.length ?? 0) > HEAD_BYTES_MAX) return false;
  for (const part of parts) {
    for (let from = 0; from < part.length; from += PIECE_BYTES) {
      // The arrays may have changed since the last turn.
      if (!isCurrent()) return false;
      const piece = Buffer.from(part.subarray(from, from + PIECE_BYTES));
      hmac.update(piece);
      await file.writeFile(piece);
    }
    await failpoint('authz.snapshot_written');
  }
  if (!isCurrent()) return false;
  await file.writeFile(hmac.digest());
  return true;
}

async function readAll(
  file: FileHandle,
  of: { readonly key: Buffer; readonly tenantId: string; readonly basis: Basis },
): Promise<Snapshot | undefined> {
  const { size } = await file.stat();
  const hmac = createHmac('sha256', of.key);
  const start = new Uint32Array(MAGIC.length + 1);
  if (!(await filled(file, bytesOf(start), hmac))) return undefined;
  const headBytes = start[MAGIC.length] as number;
  if (!MAGIC.every((word, at) => word === start[at]) || headBytes > HEAD_BYTES_MAX)
    return undefined;
  const text = Buffer.alloc(headBytes);
  if (!(await filled(file, text, hmac))) return undefined;
  const head = headOf(text);
  if (head === undefined || head.tenantId !== of.tenantId || head.basis !== of.basis) {
    return undefined;
  }
  const arrays = head.lengths.reduce((sum, length) => sum + length * 4, 0);
  if (size !== start.byteLength + headBytes + arrays + HMAC_BYTES) return undefined;
  const words = head.lengths.map((length) => new Uint32Array(length));
  for (const each of words) if (!(await filled(file, bytesOf(each), hmac))) return undefined;
  const expected = hmac.digest();
  const found = Buffer.alloc(HMAC_BYTES);
  if (!(await filled(file, found)) || !timingSafeEqual(expected, found)) return undefined;
  // Only files that this deployment wrote pass the HMAC check, so the type is right.
  const state = head.state as SavedGraph['state'];
  return { position: BigInt(head.position), saved: { state, words } };
}

function headOf(text: Buffer) {
  try {
    const value: unknown = JSON.parse(text.toString());
    return headForm.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns false if the file ends early. One piece is read while the previous one is hashed. */
async function filled(file: FileHandle, into: Uint8Array, hmac?: Hmac): Promise<boolean> {
  const read = (from: number) => file.read(into, from, Math.min(PIECE_BYTES, into.length - from));
  let reading = into.length > 0 ? read(0) : undefined;
  for (let from = 0; reading !== undefined; ) {
    const { bytesRead } = await reading;
    if (bytesRead === 0) return false;
    const piece = into.subarray(from, from + bytesRead);
    from += bytesRead;
    reading = from < into.length ? read(from) : undefined;
    hmac?.update(piece);
  }
  return true;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
