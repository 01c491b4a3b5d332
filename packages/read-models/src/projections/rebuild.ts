/**
 * Builds a projection's tables again from the first event, in a separate schema, and swaps them in with the
 * checkpoint in one transaction. Readers see the old rows until they see the new ones.
 */
import type { EventStore } from '@cardea/event-store';
import {
  applyOrSetAside,
  type Checkpoint,
  ownerOf,
  PAGE_EVENTS_MAX,
  PARKED_CHANNEL,
  positionsChannel,
} from '@cardea/log-follower';
import { openDatabase, SYSTEM_ROLE } from '@cardea/postgres';
import type { Logger } from '@cardea/runtime';
import { errorCode } from '@cardea/runtime';
import { Client } from 'pg';
import { asQueryable } from '../database/owner-client.ts';
import { cloneTable } from './clone-table.ts';
import type { Projection, ProjectionTools } from './projection.ts';
import { Projector } from './projector.ts';

const SWAP_LOCK_MS = 5000;
const SWAP_TRIES_MAX = 5;

export type RebuildOptions = {
  /** Connects as the role that owns the tables. */
  readonly connectionString: string;
  readonly projection: Projection;
  readonly schema: string;
  readonly store: EventStore;
  readonly open: ProjectionTools['open'];
  readonly log: Logger;
};

export type Rebuilt = { readonly position: bigint; readonly parkedStreams: number };

/** Safe while the projection runs, in this process or another. */
export async function rebuildProjection(options: RebuildOptions): Promise<Rebuilt> {
  const { connectionString, projection, schema, log } = options;
  const beside = `${schema}__rebuild_${projection.name}`;
  const owner = new Client({ connectionString, application_name: 'cardea-rebuild' });
  owner.on('error', () => {}); // The next statement fails and reports the error.
  await owner.connect();
  const database = openDatabase({ connectionString, log, poolSize: 1, loopsPoolSize: 2 });
  try {
    await lockName(owner, beside);
    await layOut(owner, options, beside);
    const projector = new Projector({
      projection,
      schema: beside,
      database,
      tools: { open: options.open },
      rebuilding: true,
    });
    const build: Build = {
      options,
      beside,
      owner,
      projector,
      checkpoint: await projector.load(),
    };
    await catchUp(build, await livePosition(owner, options));
    await swapWithRetry(build);
    const { position, parked } = build.checkpoint;
    log.info({ projection: `${schema}.${projection.name}` }, 'projection rebuilt');
    return { position, parkedStreams: parked.size };
  } finally {
    await owner.query(`DROP SCHEMA IF EXISTS ${beside} CASCADE`).catch(() => {});
    await owner.end().catch(() => {});
    await database.close();
  }
}

type Build = {
  readonly options: RebuildOptions;
  readonly beside: string;
  readonly owner: Client;
  readonly projector: Projector;
  readonly checkpoint: Checkpoint;
};

/** Two rebuilds of one projection would use the same schema, so its name is locked. */
async function lockName(owner: Client, beside: string): Promise<void> {
  const { rows } = await owner.query<{ mine: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS mine',
    [beside],
  );
  if (rows[0]?.mine !== true) throw new Error('This projection is being rebuilt already.');
}

async function layOut(owner: Client, options: RebuildOptions, beside: string): Promise<void> {
  const { projection, schema } = options;
  const own = ['projection_checkpoints', 'parked_events'];
  await owner.query(`DROP SCHEMA IF EXISTS ${beside} CASCADE`);
  await owner.query(`CREATE SCHEMA ${beside}`);
  await owner.query(`GRANT USAGE, CREATE ON SCHEMA ${beside} TO ${SYSTEM_ROLE}`);
  for (const name of [...own, ...projection.tables.map((table) => table.name)]) {
    await cloneTable(asQueryable(owner), { schema, name }, beside);
  }
}

/** Applies events up to the position. Later ones belong to the runner. */
async function catchUp({ options, projector, checkpoint }: Build, to: bigint): Promise<void> {
  while (checkpoint.position < to) {
    const page = await options.store.readLog(
      options.projection.log,
      checkpoint.position,
      PAGE_EVENTS_MAX,
    );
    const events = page.filter((event) => event.position <= to);
    if (events.length === 0) {
      checkpoint.position = to; // The log has no more events up to that position. Positions may have gaps.
      return;
    }
    await applyOrSetAside(events, {
      apply: (some) => projector.apply(checkpoint, some),
      setAside: (event, error) => projector.setAside(checkpoint, event, error),
    });
  }
}

/** The position of the live checkpoint, locked during the swap. */
async function livePosition(owner: Client, options: RebuildOptions, lock = ''): Promise<bigint> {
  const { rows } = await owner.query<{ position: string }>(
    `SELECT position FROM ${options.schema}.projection_checkpoints WHERE name = $1 ${lock}`,
    [options.projection.name],
  );
  return BigInt(rows[0]?.position ?? 0);
}

const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';

async function swapWithRetry(build: Build): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    // Catches up with the runner before readers are blocked, so that they wait only briefly.
    await catchUp(build, await livePosition(build.owner, build.options));
    try {
      await swap(build);
      return;
    } catch (error) {
      await build.owner.query('ROLLBACK');
      const busy = [LOCK_NOT_AVAILABLE, DEADLOCK].includes(errorCode(error));
      if (!busy || tries === SWAP_TRIES_MAX) throw error;
    }
  }
}

async function swap(build: Build): Promise<void> {
  const { options, beside, owner, checkpoint } = build;
  const { projection, schema } = options;
  const names = projection.tables.map((table) => table.name);
  await owner.query('BEGIN');
  await owner.query(`SET LOCAL lock_timeout = ${SWAP_LOCK_MS}`);
  // Locks the tables first, in the runner's order, and then the checkpoint. The reverse order would deadlock.
  for (const name of names) await owner.query(`LOCK TABLE ${schema}.${name}`);
  await catchUp(build, await livePosition(owner, options, 'FOR UPDATE'));
  for (const name of names) await replaceTable(owner, { schema, beside, name });
  const parkedOwner = ownerOf({ kind: 'projection', name: projection.name });
  await owner.query(`DELETE FROM ${schema}.parked_events WHERE owner = $1`, [parkedOwner]);
  await owner.query(`INSERT INTO ${schema}.parked_events SELECT * FROM ${beside}.parked_events`);
  await owner.query(
    `INSERT INTO ${schema}.projection_checkpoints (name, position) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET position = excluded.position,
       epoch = projection_checkpoints.epoch + 1, updated_at = now()`,
    [projection.name, checkpoint.position.toString()],
  );
  await owner.query(
    `SELECT pg_notify('${PARKED_CHANNEL}', $1), pg_notify('${positionsChannel(schema)}', $2)`,
    [`${schema} ${parkedOwner}`, `${schema} ${projection.name} ${checkpoint.position}`],
  );
  await owner.query('COMMIT');
}

/** The partitions of a table are moved with it. */
async function replaceTable(
  owner: Client,
  { schema, beside, name }: { schema: string; beside: string; name: string },
): Promise<void> {
  const { rows } = await owner.query<{ table: string }>(
    `SELECT relid::regclass::text AS table FROM pg_partition_tree($1::regclass)
     UNION SELECT $1::regclass::text`,
    [`${beside}.${name}`],
  );
  await owner.query(`DROP TABLE ${schema}.${name}`);
  for (const { table } of rows) await owner.query(`ALTER TABLE ${table} SET SCHEMA ${schema}`);
}
