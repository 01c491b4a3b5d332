/** Saves all tables of one snapshot over two connections. A large table is split in two, so that both have work. */
import type { CopiedTable, TableSnapshot } from '@cardea/read-models';
import type { SavedTable } from './manifest.ts';
import { savePart, type TablePart } from './table-files.ts';

const CONNECTIONS = 2;
/** Tables up to 64 MB are not split. */
const BLOCKS_UNDIVIDED_MAX = 8192;

type ToSave = {
  readonly snapshot: TableSnapshot;
  readonly folder: string;
  readonly tables: readonly CopiedTable[];
  readonly onSaved: (part: SavedTable) => void;
};

/** Returns the tables in their order. */
export async function saveTables({
  snapshot,
  folder,
  tables,
  onSaved,
}: ToSave): Promise<readonly SavedTable[]> {
  const parts: TablePart[] = [];
  for (const table of tables) parts.push(...partsOf(table, await snapshot.blocksOf(table)));
  const saved: SavedTable[] = [];
  const next = parts.entries();
  const saveOver = async (connection: TableSnapshot): Promise<void> => {
    for (const [at, part] of next) {
      const done = await savePart(connection, folder, part);
      saved[at] = done;
      onSaved(done);
    }
  };
  const beside = await snapshot.beside();
  try {
    await Promise.all([snapshot, beside].map(saveOver));
  } finally {
    await beside.close();
  }
  return saved;
}

export function partsOf(table: CopiedTable, blocks: number): readonly TablePart[] {
  const name = `${table.schema}.${table.name}`;
  if (blocks <= BLOCKS_UNDIVIDED_MAX) return [{ table, file: `${name}.copy.zst` }];
  const each = Math.ceil(blocks / CONNECTIONS);
  return Array.from({ length: CONNECTIONS }, (_, at) => ({
    table,
    file: `${name}.${at + 1}.copy.zst`,
    // The last part has no end, so it includes rows that were added since the blocks were counted.
    blocks: { from: at * each, ...(at + 1 < CONNECTIONS && { to: (at + 1) * each }) },
  }));
}
