/** Saves a table's rows as a compressed file, with its hash. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import {
  type BlockRange,
  type CopiedTable,
  release,
  type TableLoad,
  type TableSnapshot,
} from '@cardea/read-models';
import { damaged, type SavedTable } from './manifest.ts';

const OWNER_ONLY = 0o600;
const CHUNK_BYTES = 1 << 20;
const CHUNKS = { chunkSize: CHUNK_BYTES };
/**
 * At its lowest level zstd needs an eighth of gzip's time and compresses better. A window of 128 KiB fits a processor's
 * cache, which saves another quarter of the time and makes files 1 % larger.
 */
const COMPRESSED = {
  chunkSize: CHUNK_BYTES,
  params: {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_windowLog]: 17,
    [constants.ZSTD_c_hashLog]: 15,
  },
};

/** The rows of one file: the whole table, or some of its blocks. */
export type TablePart = {
  readonly table: CopiedTable;
  readonly file: string;
  readonly blocks?: BlockRange;
};

export async function savePart(
  snapshot: Pick<TableSnapshot, 'copyOut'>,
  folder: string,
  { table, file, blocks }: TablePart,
): Promise<SavedTable> {
  const rows = snapshot.copyOut(table, blocks);
  const hash = createHash('sha256');
  let bytes = 0;
  const measured = new Transform({
    transform: (chunk: Buffer, _encoding, next) => {
      hash.update(chunk);
      bytes += chunk.length;
      next(null, chunk);
    },
  });
  const to = createWriteStream(join(folder, file), { flags: 'wx', mode: OWNER_ONLY, flush: true });
  const compress = createZstdCompress(COMPRESSED);
  await Promise.all([pipeline(rows, releasedAfter(compress)), pipeline(compress, measured, to)]);
  return { ...table, file, rows: rows.rowCount, bytes, sha256: hash.digest('hex') };
}

/** Writes to a compressor and releases each page after it was read. Any failure also ends the compressor. */
function releasedAfter(compress: Writable): Writable {
  return new Writable({
    highWaterMark: 1,
    write: (page: Buffer, _encoding, next) => {
      compress.write(page, (error) => {
        release(page);
        next(error);
      });
    },
    final: (next) => compress.end(next),
    destroy: (error, next) => {
      if (error !== null) compress.destroy(error);
      next(error);
    },
  });
}

/** Checks the properties of a file that need no reading. Its hash is compared while it is loaded. */
export function checkFile(folder: string, { file, bytes }: SavedTable): void {
  const path = join(folder, file);
  if (!existsSync(path)) throw damaged(`${file} is missing`);
  if (statSync(path).size !== bytes) throw damaged(`${file} is not what was written`);
}

/** Throws if the file is not the one that was written, even if that made its loading fail. The caller rolls back. */
export async function loadTable(
  load: Pick<TableLoad, 'copyIn'>,
  folder: string,
  table: SavedTable,
): Promise<void> {
  const hash = createHash('sha256');
  const hashed = new Transform({
    transform: (chunk: Buffer, _encoding, next) => {
      hash.update(chunk);
      next(null, chunk);
    },
  });
  const into = load.copyIn(table);
  try {
    await pipeline(opened(folder, table), hashed, createZstdDecompress(CHUNKS), into);
  } catch (error) {
    // The rest of the file was not read, so the hash is computed from the whole file.
    const whole = createHash('sha256');
    await pipeline(opened(folder, table), whole);
    if (whole.digest('hex') !== table.sha256) throw changed(table);
    throw error;
  }
  if (hash.digest('hex') !== table.sha256) throw changed(table);
  if (into.rowCount !== table.rows) throw damaged(`${table.file} has another number of rows`);
}

const opened = (folder: string, { file }: SavedTable) =>
  createReadStream(join(folder, file), { highWaterMark: CHUNK_BYTES });

const changed = ({ file }: SavedTable) => damaged(`${file} is not what was written`);
