/** Removes the clusters of test runs that were killed before they could do so themselves. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopServerOf } from '@cardea/local-postgres';

/** A run's folder is this, its process id, and something random. */
export const TEMPORARY_PREFIX = 'cardea-test-';
const NOTE = 'cluster-folder';

/** The cluster may lie elsewhere than in the run's own folder. */
export function writeClusterNote(parent: string, clusterFolder: string): void {
  writeFileSync(join(parent, NOTE), clusterFolder);
}

export function sweepLeftClusters(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(name.slice(TEMPORARY_PREFIX.length).split('-')[0]);
    if (!name.startsWith(TEMPORARY_PREFIX) || !(pid > 0) || lives(pid)) continue;
    const parent = join(tmpdir(), name);
    const note = join(parent, NOTE);
    try {
      const cluster = existsSync(note) ? readFileSync(note, 'utf8') : join(parent, 'postgres');
      stopServerOf(cluster);
      rmSync(cluster, { recursive: true, force: true });
      rmSync(parent, { recursive: true, force: true });
    } catch {
      // Another user's, or another sweep was faster: not ours to clean.
    }
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
