/** Migrates the database. Containers never do so on their own. */
import { pendingMigrations } from '@cardea/read-models';
import { migrateServices, migrationSetsOf } from '@cardea/service';
import { services } from '../../standalone.ts';
import { type Command, done } from '../command.ts';
import { NotDone } from '../failures.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Applies the migrations of all services that are not applied yet.',
  options: {
    all: { type: 'boolean', help: 'all services, which is the default' },
    'dry-run': { type: 'boolean', help: 'only list the migrations that it would apply' },
  },
  run: async ({ open, options, version }) => {
    const { settings, log } = await open();
    const connectionString = settings.MIGRATION_DATABASE_URL.reveal();
    if (options['dry-run'] === true) {
      const sets = migrationSetsOf(services);
      const state = await pendingMigrations({ connectionString, sets, appVersion: version });
      const [changed] = state.changed;
      if (changed !== undefined)
        throw new NotDone(`${changed} was applied and is another file now`);
      const [newer] = state.tooNew;
      if (newer !== undefined) throw new NotDone(`${newer.name} needs ${newer.minAppVersion}`);
      return done(listed('to apply', state.pending), { pending: state.pending });
    }
    const applied = await migrateServices({ settings, definitions: services, version, log });
    return done(listed('applied', applied), { applied });
  },
};

const listed = (what: string, names: readonly string[]): readonly string[] =>
  names.length === 0 ? [`Nothing ${what}.`] : names.map((name) => `${what}: ${name}`);
