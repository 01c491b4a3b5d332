import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const SECOND_MS = 1000;
/** Most of a test is waiting: for a server, a commit, a process that starts. One file at a time would waste a core. */
const WORKERS_MIN = 2;
/** Starts each server once for all projects that name it. */
const servers = {
  globalSetup: ['test/postgres.setup.ts', 'test/redis.setup.ts', 'test/kafka.setup.ts'],
};

const everywhere = ['test/nested-connections.setup.ts'];

/** One project per kind of test (`CONTRIBUTING.md`); the kind decides what it may use and how long it may take. */
export default defineConfig({
  test: {
    passWithNoTests: true,
    maxWorkers: Math.max(WORKERS_MIN, availableParallelism() - 1),
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts'],
          exclude: ['**/*.int.test.ts'],
          // Pure code needs no process for each file; loading it again would take most of the time.
          isolate: false,
          setupFiles: ['test/properties.setup.ts', ...everywhere],
          // Milliseconds each; a property over thousands of cases may meet a busy machine.
          testTimeout: 60 * SECOND_MS,
        },
      },
      {
        test: {
          name: 'int',
          ...servers,
          setupFiles: everywhere,
          include: [
            'packages/*/{src,test}/**/*.int.test.ts',
            'services/*/{src,test}/**/*.int.test.ts',
          ],
          testTimeout: 300 * SECOND_MS,
          hookTimeout: 300 * SECOND_MS,
        },
      },
      ...['story', 'security', 'faults', 'fuzz', 'deploy'].map((name) => ({
        test: {
          name,
          ...(name === 'deploy' ? {} : servers),
          setupFiles: everywhere,
          include:
            name === 'deploy'
              ? ['test/deploy/**/*.test.ts', 'scripts/*.test.ts']
              : [`test/${name}/**/*.test.ts`],
          testTimeout: 300 * SECOND_MS,
          hookTimeout: 180 * SECOND_MS,
        },
      })),
    ],
  },
});
