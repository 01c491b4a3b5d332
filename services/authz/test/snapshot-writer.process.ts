/** A process that is killed while it overwrites a snapshot. */
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { snapshotFiles } from '../src/adapters/snapshot-files.ts';
import { newTupleIndex } from '../src/engine/tuple-index.ts';

const [folder = '', key = ''] = process.argv.slice(2);
armFailPoints(parseFailPoints('authz.snapshot_written=kill@4') ?? []);
const files = snapshotFiles(folder, Buffer.from(key, 'hex'), () => 'killed');
const index = newTupleIndex();
const of = { basis: 'basis', isCurrent: () => true };
await files.write('t', { position: 13n, saved: index.save() }, of);
