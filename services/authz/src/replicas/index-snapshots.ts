/**
 * Saves large indexes as files, so that a restarted process need not read millions of rows. An index is written when
 * its tuples have not changed for a while, and when the process stops.
 */
import type { Clock, Logger } from '@cardea/runtime';
import type { Loop } from '@cardea/service';
import type { SnapshotFiles } from '../adapters/snapshot-files.ts';
import type { IndexBasis } from '../adapters/tuple-loader.ts';
import type { LoadedTuples, TenantIndexes, Unsaved } from '../engine/tenant-indexes.ts';
import { savedTupleIndex } from '../engine/tuple-index.ts';

/** Smaller indexes are read from the table quickly. */
const TUPLES_MIN = 50_000;
const QUIET_MS = 60_000;
const LOOK_MS = 5_000;
/** The time limit for all writes when the process stops. The rest is read from the table next time. */
const STOP_MS = 10_000;

export type SnapshotDependencies = {
  readonly files: SnapshotFiles;
  readonly tenants: () => Pick<TenantIndexes, 'unsaved'>;
  readonly basis: () => Promise<IndexBasis>;
  /** The log's last position. */
  readonly head: () => Promise<bigint>;
  readonly clock: Clock;
  readonly log: Logger;
};

export type IndexSnapshots = {
  /** Returns undefined if no trustworthy file reflects `atLeast`. */
  readonly load: (tenantId: string, atLeast: bigint) => Promise<LoadedTuples | undefined>;
  readonly loops: readonly Loop[];
  readonly stop: () => Promise<void>;
};

/** Used if no folder is configured. */
export const noSnapshots: IndexSnapshots = {
  load: async () => undefined,
  loops: [],
  stop: async () => {},
};

export function indexSnapshots(needs: SnapshotDependencies): IndexSnapshots {
  const { files, tenants, clock, log } = needs;
  const save = async (unsaved: Unsaved): Promise<void> => {
    try {
      if (await saved(needs, unsaved)) unsaved.saved();
    } catch (error) {
      const name = error instanceof Error ? error.name : 'unknown';
      log.warn({ error: name }, 'an index was not written to the folder of snapshots');
    }
  };
  return {
    load: async (tenantId, atLeast) => {
      // Read before the file. If a stream is parked or released in between, all indexes are read again.
      const { text, parked } = await needs.basis();
      const found = await files.read(tenantId, text);
      if (found === undefined || found.position < atLeast) return undefined;
      const { position } = found;
      // The log was truncated, so the file may contain events that the log no longer has.
      if (position > (await needs.head())) return undefined;
      return { index: savedTupleIndex(found.saved), position, parked, isSaved: true };
    },
    loops: [
      {
        name: 'authz-snapshots',
        run: async (signal, tick) => {
          await files.tidy();
          while (!signal.aborted) {
            tick();
            for (const unsaved of tenants().unsaved(QUIET_MS)) {
              if (!signal.aborted) await save(unsaved);
            }
            await clock.sleep(LOOK_MS, signal);
          }
        },
      },
    ],
    stop: async () => {
      const endMs = clock.monotonicMs() + STOP_MS;
      for (const unsaved of tenants().unsaved(0)) {
        if (clock.monotonicMs() < endMs) await save(unsaved);
      }
    },
  };
}

/**
 * Saves the index of a tenant to a file. A small index has no file, so the file of a tenant that became small or was
 * deleted is removed.
 */
async function saved(
  { files, basis }: SnapshotDependencies,
  { tenantId, index, parked, position, isCurrent }: Unsaved,
): Promise<boolean> {
  if (index.size <= TUPLES_MIN || index.hasNoFile) {
    await files.remove(tenantId);
    return true;
  }
  const now = await basis();
  // A stream was parked or released. The index will be read again within a second.
  const isSame =
    now.parked.size === parked.size && [...parked].every((each) => now.parked.has(each));
  if (!isSame || !isCurrent()) return false;
  const snapshot = { position, saved: index.save() };
  return files.write(tenantId, snapshot, { basis: now.text, isCurrent });
}
