/**
 * Cardea in one process: all six services on one port. It starts its own PostgreSQL unless DATABASE_URL names another
 * one.
 */
import type { RootLogger, Settings } from '@cardea/runtime';
import { type Host, infrastructure, migrateServices, startHost } from '@cardea/service';

import { services } from './services.ts';

export { allEndpoints } from './all-endpoints.ts';
export { type DataFolder, FolderInUse, openDataFolder } from './data-folder.ts';
export { type Mailbox, startMailbox } from './mailbox.ts';
export { services } from './services.ts';
export { banner } from './welcome/banner.ts';
export { DEFAULT_APPLICATION } from './welcome/welcome.ts';

export type StandaloneOptions = {
  readonly settings: Settings;
  readonly version: string;
  readonly log: RootLogger;
  /** `--share-dev-mailbox`. */
  readonly sharesDevelopment?: boolean;
};

export type Standalone = Host;

const LOOPBACK = ['127.0.0.1', '::1'];

export async function startStandalone(options: StandaloneOptions): Promise<Standalone> {
  const { settings, version, log, sharesDevelopment = false } = options;
  const applied = await migrateServices({ settings, definitions: services, version, log });
  if (applied.length > 0) log.info({ applied: applied.length }, 'migrations are applied');
  const shared = infrastructure({ settings, version, log });
  try {
    const host = await startHost({
      infrastructure: shared,
      definitions: services,
      port: settings.PORT,
      managementPort: settings.MANAGEMENT_PORT,
      hosts: settings.HOST === undefined ? LOOPBACK : [settings.HOST],
      sharesDevelopment,
    });
    return {
      ...host,
      async stop() {
        await host.stop();
        await shared.close();
      },
    };
  } catch (error) {
    await shared.close();
    throw error;
  }
}
