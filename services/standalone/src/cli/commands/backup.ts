/** Saves a deployment to a folder, and restores it from one. */
import { resolve } from 'node:path';
import { makeBackup } from '../../backup/make-backup.ts';
import { type RestoreStep, restoreBackup } from '../../backup/restore-backup.ts';
import { type Call, type Command, done, textOf } from '../command.ts';
import { NotDone, WrongUsage } from '../failures.ts';

export const backup: Command = {
  name: 'backup',
  summary:
    'Saves events, keys, secrets and what consumers hold to a folder, while all runs; ENCRYPTION_KEY and JWT_SECRET are not in it.',
  example: 'backup --out /var/backups/cardea/2026-11-23',
  options: {
    out: { type: 'string', value: 'DIR', help: 'a new or empty folder' },
    'events-saved': {
      type: 'boolean',
      help: 'confirm, with EventStoreDB, that its own backup was made before this one',
    },
  },
  run: async (call) => {
    const out = folderOf(call, 'out');
    const deployment = await call.open();
    const isElsewhere = deployment.settings.EVENTSTORE_URL !== undefined;
    if (isElsewhere && call.options['events-saved'] !== true) {
      throw new NotDone(
        'the events are in EventStoreDB: make its own backup first, then this one with --events-saved, or events would lack their keys',
        'events_elsewhere',
      );
    }
    const { tables, heads, created_at, keys } = await makeBackup(deployment, out, (table) =>
      call.tell(`${table.schema}.${table.name}  ${table.rows} rows`, {
        saved: `${table.schema}.${table.name}`,
        rows: table.rows,
        bytes: table.bytes,
      }),
    );
    const bytes = tables.reduce((sum, table) => sum + table.bytes, 0);
    const count = new Set(tables.map(({ schema, name }) => `${schema}.${name}`)).size;
    return done(
      [
        `Saved ${count} tables, ${(bytes / 1e6).toFixed(1)} MB.`,
        `Only ENCRYPTION_KEY ${keys.encryption_key} can decrypt it. Store that key elsewhere.`,
      ],
      { tables: count, bytes, created_at, heads, keys },
    );
  },
};

export const restore: Command = {
  name: 'restore',
  summary:
    'Restores a backup into an empty database, with nothing running: topics begin anew, projections are rebuilt.',
  example: 'restore --in /var/backups/cardea/2026-11-23',
  options: {
    in: { type: 'string', value: 'DIR', help: 'the folder of the backup' },
    erased: {
      type: 'string',
      value: 'DIR',
      help: 'the folder of a later backup: the secrets that were destroyed by then stay destroyed',
    },
  },
  run: async (call) => {
    const folder = folderOf(call, 'in');
    const erased = textOf(call, 'erased');
    const erasedFolder = erased === undefined ? undefined : resolve(erased);
    const deployment = await call.open();
    if (deployment.isRunning === true) {
      throw new NotDone('the deployment runs: stop it, and restore into an empty one', 'running');
    }
    const restored = await restoreBackup(deployment, { folder, erasedFolder }, (step) =>
      call.tell(lineOf(step), step),
    );
    const { manifest, epoch, parkedStreams, relayedFrom, hasSameJwtSecret } = restored;
    const lines = [
      `Restored the state of ${manifest.created_at}. Consumers elsewhere see the epoch ${epoch}.`,
      ...(hasSameJwtSecret ? [] : ['JWT_SECRET is another one: everybody has to sign in again.']),
      ...(parkedStreams === 0 ? [] : [`${parkedStreams} streams are parked: cardea parked list.`]),
    ];
    const { created_at, heads } = manifest;
    return {
      ok: parkedStreams === 0,
      lines,
      json: {
        created_at,
        heads,
        epoch,
        parked_streams: parkedStreams,
        relayed_from: relayedFrom,
        same_jwt_secret: hasSameJwtSecret,
      },
    };
  },
};

function folderOf(call: Call, option: 'in' | 'out'): string {
  const given = textOf(call, option);
  if (given === undefined || given === '') throw new WrongUsage(`--${option} names a folder`);
  return resolve(given);
}

function lineOf(step: RestoreStep): string {
  if ('checked' in step) return `checked ${step.checked} files`;
  if ('loaded' in step) return `${step.loaded}  ${step.rows} rows`;
  if ('topics' in step) return `made ${step.topics} topics anew`;
  return `rebuilt ${step.rebuilt} up to ${step.position}`;
}
