import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/test/longest-first.ts';

const SECOND_MS = 1000;
/** Most of a test is waiting: for a server, a commit, a process that starts. A file for each core would waste half of them. */
const WORKERS_MIN = 5;
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
    // The files of a worker share their modules: to load them again for each file takes two seconds of a core.
    isolate: false,
    // Node loads the sources itself, as it does in production. Vite would transform each file, and each call of an
    // imported function would go through an object of its module runner.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{packages,services,scripts}/*/src/**/*.test.ts'],
          exclude: ['**/*.int.test.ts'],
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
      {
        test: {
          name: 'containers',
          include: ['test/containers/**/*.test.ts'],
          setupFiles: everywhere,
          // One deployment at a time, each file its own.
          fileParallelism: false,
          // After all others: a group has one number of workers.
          sequence: { groupOrder: 1 },
          testTimeout: 900 * SECOND_MS,
          hookTimeout: 900 * SECOND_MS,
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
