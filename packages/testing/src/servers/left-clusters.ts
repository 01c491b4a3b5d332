/** Removes the clusters of test runs that were killed before they could do so themselves. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopServerOf } from '@cardea/local-postgres';

/** The prefix of a run's folder. Its process id and a random part follow. */
export const TEMPORARY_PREFIX = 'cardea-test-';
const NOTE = 'cluster-folder';

/** Notes where the cluster is, since it may be outside of the run's own folder. */
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
      // The folder belongs to another user, or another sweep was faster, so it is left.
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
