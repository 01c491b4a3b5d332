/**
 * Runs the engines in a separate process without HTTP, on the reference set, and measures what the benchmark's process
 * requests. The table is filled by statements, because a million events would take longer than all measurements.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { authzService } from '@cardea/authz';
import { uuidFrom } from '@cardea/runtime';
import { referenceSet, serviceFixture, untilTrue } from '@cardea/testing';
import { snapshotFiles } from '../src/adapters/snapshot-files.ts';
import { subgraphs } from '../src/adapters/subgraph.ts';
import { nodeKey, tupleKey } from '../src/adapters/tuple-key.ts';
import { loadTuples } from '../src/adapters/tuple-loader.ts';
import { newScratch } from '../src/engine/closure.ts';
import { slices } from '../src/engine/in-slices.ts';
import { finished, newTupleIndex, savedTupleIndex } from '../src/engine/tuple-index.ts';
import { Work } from '../src/engine/work.ts';
import { numberOf } from '../src/relations/relation.ts';

const TENANT = 'bench';
const QUESTIONS = 20_000;
const INSERT_ROWS = 20_000;
const CHECKS_AT_ONCE = 1_000;
const OBJECTS = 1_000;
const START_MS = 60_000;

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const [databaseUrl = '', smaller = '1'] = process.argv.slice(2);
const set = referenceSet(Number(smaller));
const fixture = await serviceFixture({ databaseUrl, definitions: [authzService] });
const { database, clock } = fixture.host.needsOf('authz');
process.on('disconnect', () => process.exit(0));

await fillTable();
const questions = Array.from({ length: QUESTIONS }, (_, at) => plain(set.question(at)));
const { index, bytesPerTuple } = filledIndex();
const inSlices = slices(() => clock.monotonicMs());
const table = subgraphs(database, inSlices);
const objectIds = questions.slice(0, OBJECTS).map(({ object_id }) => object_id);
let at = 0;
const next = () => questions[at++ % QUESTIONS] as (typeof questions)[number];

/** Each function performs a number of operations and returns that number. */
const work: { readonly [name: string]: () => number | Promise<number> } = {
  allows: () => repeated(CHECKS_AT_ONCE, () => finished(index.allows(next()))),
  check: () => repeated(CHECKS_AT_ONCE, () => finished(index.check(next()))),
  filter: () => finished(index.filter(next(), objectIds)).length,
  list: () => finished(index.listObjects(next())).length,
  delete_and_write: () =>
    repeated(CHECKS_AT_ONCE / 2, () => {
      index.delete({ ...next(), relation: 'editor' });
      index.write({ ...next(), relation: 'editor' });
    }) * 2,
  table_check: async () => {
    const asked = next();
    const by = new Work(TENANT);
    const found = await table.ofChecks({ tenantId: TENANT, work: by }, [asked], [asked]);
    await inSlices(by, found.check(asked, found.run(newScratch())));
    return 1;
  },
};

process.on('message', async ({ what, seconds }: { what: string; seconds: number }) => {
  process.send?.(await measured(work[what] as () => number, seconds));
});
process.send?.({ tuples: index.size, bytesPerTuple, ...(await loadRates()) });

function repeated(times: number, operation: () => unknown): number {
  for (let done = 0; done < times; done++) operation();
  return times;
}

async function measured(operation: () => number | Promise<number>, seconds: number) {
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  let count = 0;
  while (performance.now() - start < seconds * 1_000) count += await operation();
  const elapsed = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuBefore);
  const each = elapsed / count;
  return {
    per_second: 1_000 / each,
    p50_ms: each,
    p99_ms: each,
    cpu_ms: (user + system) / 1_000 / count,
    rss_mb: process.memoryUsage.rss() / 2 ** 20,
    errors: 0,
    count,
  };
}

/** A flat copy of every string, as in a request. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** An index with everything that walks cache. */
function filledIndex() {
  const before = used();
  const index = newTupleIndex();
  for (const tuple of set.tuples()) index.write(tuple);
  const asked = set.question(0);
  finished(index.filter(asked, [asked.object_id]));
  for (const each of questions) finished(index.check(each));
  return { index, bytesPerTuple: (used() - before) / index.size };
}

function used(): number {
  for (let round = 0; round < 3; round++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Tuples loaded per second, from the table and from a file. */
async function loadRates() {
  const fromTable = await timed(() => loadTuples(database, TENANT));
  const folder = mkdtempSync(join(tmpdir(), 'cardea-bench-'));
  const files = snapshotFiles(folder, Buffer.alloc(32), () => 'bench');
  const toFile = await timed(() =>
    files.write(
      TENANT,
      { position: 1n, saved: index.save() },
      { basis: '', isCurrent: () => true },
    ),
  );
  const fromFile = await timed(async () => {
    const found = await files.read(TENANT, '');
    return found && savedTupleIndex(found.saved);
  });
  rmSync(folder, { recursive: true });
  if (fromTable.value.index.size !== index.size || fromFile.value?.size !== index.size) {
    throw new Error('a load has lost tuples');
  }
  const rate = ({ ms }: { ms: number }) => (index.size / ms) * 1_000;
  return { fromTable: rate(fromTable), toFile: rate(toFile), fromFile: rate(fromFile) };
}

async function timed<T>(operation: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const start = performance.now();
  const value = await operation();
  return { value, ms: performance.now() - start };
}

async function fillTable(): Promise<void> {
  await untilTrue(
    async () => {
      const { rows } = await database.system.query(
        "SELECT 1 FROM authz.projection_checkpoints WHERE name = 'tuples'",
      );
      return rows.length > 0;
    },
    { deadlineMs: START_MS },
  );
  let position = 0;
  let batch: unknown[][] = [];
  const flush = () =>
    database.asSystem(async (sql) => {
      await sql.query(
        `INSERT INTO authz.tuples (key, tenant_id, position, id, created_at, relation, user_type,
           user_id, object_type, object_id, subject_key, object_key, object_wild)
         SELECT decode(r.key, 'hex'), $1, r.position, r.id, now(), r.relation, r.user_type,
           r.user_id, r.object_type, r.object_id, r.subject_key, r.object_key, r.object_wild
         FROM jsonb_to_recordset($2::jsonb) AS r(key text, position bigint, id uuid,
           relation smallint, user_type text, user_id text, object_type text, object_id text,
           subject_key uuid, object_key uuid, object_wild uuid)
         ON CONFLICT DO NOTHING`,
        [TENANT, JSON.stringify(batch)],
      );
      batch = [];
    });
  for (const fields of set.tuples()) {
    const key = tupleKey(TENANT, fields);
    batch.push({
      ...fields,
      key,
      position: ++position,
      id: uuidFrom(key),
      relation: numberOf[fields.relation],
      subject_key: nodeKey(fields.user_type, fields.user_id),
      object_key: nodeKey(fields.object_type, fields.object_id),
      object_wild: nodeKey(fields.object_type, '*'),
    } as never);
    if (batch.length === INSERT_ROWS) await flush();
  }
  await flush();
}
