/**
 * The global setup that vitest runs once per project: projects of one run share one server, which
 * goes when the last of them is done.
 */
import type { TestProject } from 'vitest/node';
import { type MigrateTemplate, startPostgresOfRun } from './test-postgres.ts';

type Shared = { users: number; readonly started: ReturnType<typeof startPostgresOfRun> };

/** Projects load this module each for itself; what they share has to stand outside of it. */
const SHARED = Symbol.for('cardea.postgresOfRun');
const globals = globalThis as { [SHARED]?: Shared | undefined };

export function postgresSetup(migrate: MigrateTemplate) {
  return async (project: TestProject): Promise<() => Promise<void>> => {
    globals[SHARED] ??= { users: 0, started: startPostgresOfRun(migrate) };
    const shared = globals[SHARED];
    shared.users += 1;
    const { info, stop } = await shared.started;
    project.provide('postgres', info);
    return async () => {
      shared.users -= 1;
      if (shared.users > 0) return;
      globals[SHARED] = undefined;
      await stop();
    };
  };
}
