/**
 * `npm test`: runs all steps and summarizes their results.
 *
 *   npm test                             all steps
 *   npm test -- --project int -t R23     tests of one or more projects, by name; further words are file filters
 *   npm run check                        format, lint, types, dead code
 *   npm run test:long [-- --only R1,S5 --minutes N --seed S]
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SERVICE_NAMES } from '@cardea/contracts';
import {
  handDown,
  handDownKafka,
  handDownRedis,
  SERVICE_FOLDERS,
  startKafkaOfRun,
  startPostgresOfRun,
  startRedisOfRun,
} from '@cardea/testing';
import { migrateTemplate } from '../test/migrate-template.ts';
import { bundlePrograms } from './test/bundle-programs.ts';
import { interruption, run } from './test/run.ts';
import { filesToTry, withSecondTry } from './test/second-try.ts';
import { type Failure, NOTHING, type Step, sum, summary, type Tally } from './test/tally.ts';

const PROJECTS = [
  ...['unit', 'deploy', 'int', 'story', 'security', 'fuzz', 'faults'],
  // The container tests that take some minutes, if an engine is running and has the images.
  ...(process.env['CARDEA_CONTAINERS'] === 'cached' ? ['containers'] : []),
];
const WITHOUT_SERVERS = ['unit', 'deploy', 'containers'];
/** The programs that tests start most often. */
const PROGRAMS = [
  ...SERVICE_NAMES.map((name) => `services/${SERVICE_FOLDERS[name]}/src/main.ts`),
  ...['main', 'cardea'].map((name) => `services/standalone/src/${name}.ts`),
  ...readdirSync('scripts/bench/src/workers').map((name) => `scripts/bench/src/workers/${name}`),
  ...['bus', 'late'].map((name) => `packages/event-bus/test/${name}-process.ts`),
  'packages/event-store/test/writer.ts',
  'services/authz/test/killed.process.ts',
  'test/faults/fga-replica.process.ts',
];
const BUNDLES = resolve('.cache/test/programs');
const TALLY_FILE = '.cache/test/tallies.json';
/** The compile cache of all processes that tests start, vitest's own included. */
const COMPILED = resolve('.cache/compiled');
const BENCH = 'scripts/bench.ts';
const USAGE_EXIT = 2;

const { values, positionals } = readArguments();
const filtered = values.testNamePattern !== undefined || values.only !== undefined;
const chosen = values.project ?? PROJECTS;
const isWholeRun = !filtered && values.project === undefined && positionals.length === 0;

const steps: Step[] = [];
const started = performance.now();

mkdirSync(dirname(TALLY_FILE), { recursive: true });
process.exitCode = await everything();

async function everything(): Promise<number> {
  const needsServers = !(values.check || chosen.every((each) => WITHOUT_SERVERS.includes(each)));
  // Servers start and programs are bundled while the checks run.
  const servers = needsServers ? startServers() : undefined;
  const ready = servers?.catch(() => undefined);
  const bundled = needsServers ? bundlePrograms(BUNDLES, PROGRAMS) : undefined;
  bundled?.catch(() => undefined);
  try {
    const checksHold = !(isWholeRun || values.check) || (await step('check', check));
    if (checksHold && !values.check) {
      if (bundled !== undefined) process.env['BUNDLED_PROGRAMS'] = await bundled;
      // The benches only have to work. What they measure while tests run says nothing, so it is not asserted.
      const smoke = isWholeRun ? step('bench smoke', benchSmoke) : undefined;
      if (interruption.code === undefined) steps.push(...(await tests(servers)));
      await smoke;
    }
  } finally {
    await (await ready)?.stop();
  }
  report();
  const failed = steps.some(({ tally }) => tally.failed > 0);
  return interruption.code ?? (failed ? 1 : 0);
}

/** Runs one step. Returns true if nothing failed. */
async function step(name: string, work: () => Promise<Tally>): Promise<boolean> {
  if (interruption.code !== undefined) return false;
  const began = performance.now();
  console.log(`\n── ${name}`);
  const tally = await work().catch((error: unknown) => failure(name, error));
  steps.push({ step: name, seconds: (performance.now() - began) / 1000, tally });
  return tally.failed === 0;
}

function failure(name: string, error: unknown): Tally {
  console.error(error instanceof Error ? error.message : error);
  return { ...NOTHING, failed: 1, failures: [{ test: name }] };
}

/** Format, lint and imports; types; dead code. All three run and are reported, even if the first one fails. */
async function check(): Promise<Tally> {
  const tools: { [name: string]: readonly string[] } = {
    biome: ['check', '--error-on-warnings', '.'],
    tsc: ['-p', '.'],
    knip: ['--no-progress'],
  };
  const failures: Failure[] = [];
  const runs = Object.entries(tools).map(async ([tool, args]) => {
    const { code, output } = await run(`node_modules/.bin/${tool}`, args, { quiet: true });
    if (code === 0) return;
    failures.push({ test: tool });
    console.log(`${output.trim()}\n${tool} failed (${code}).`);
  });
  await Promise.all(runs);
  return { ...NOTHING, failed: failures.length, failures };
}

/** One run of vitest for all projects. A worker that has finished one project continues with the next. */
async function tests(servers?: ReturnType<typeof startServers>): Promise<readonly Step[]> {
  console.log(`\n── ${chosen.join(', ')}`);
  const pattern = values.testNamePattern ?? onlyRows(values.only);
  try {
    const env = (await servers)?.env;
    const first = await vitest([...namedBy(pattern), ...positionals], env);
    const again = isWholeRun && process.env['CI'] === 'true' ? filesToTry(first) : undefined;
    if (again === undefined || interruption.code !== undefined) return first;
    console.log(`\n── a second try: ${again.join(', ')}`);
    return withSecondTry(first, await vitest(again, env));
  } catch (error) {
    return [{ step: 'tests', seconds: 0, tally: failure('tests', error) }];
  }
}

function namedBy(pattern: string | undefined): readonly string[] {
  return pattern === undefined ? [] : ['-t', pattern];
}

async function vitest(
  more: readonly string[],
  env: { readonly [name: string]: string } = {},
): Promise<readonly Step[]> {
  rmSync(TALLY_FILE, { force: true });
  const { code } = await run(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      ...chosen.flatMap((project) => ['--project', project]),
      ...['--reporter', 'default', '--reporter', './scripts/test/tally-reporter.ts'],
      ...more,
    ],
    {
      env: {
        TALLY_FILE,
        NODE_COMPILE_CACHE: COMPILED,
        ...(filtered ? { TALLY_FILTERED: 'yes' } : {}),
        ...env,
        ...testForm(),
      },
    },
  );
  return stepsOf(code);
}

async function startServers() {
  const running: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    for (const server of running.toReversed()) await server.stop();
  };
  try {
    const postgres = await startPostgresOfRun(migrateTemplate);
    running.push(postgres);
    const redis = await startRedisOfRun();
    running.push(redis);
    const kafka = await startKafkaOfRun();
    running.push(kafka);
    const env = {
      ...handDown(postgres.info),
      ...handDownRedis(redis.info),
      ...handDownKafka(kafka.info),
    };
    return { env, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function stepsOf(code: number): readonly Step[] {
  const told: readonly Step[] = existsSync(TALLY_FILE)
    ? JSON.parse(readFileSync(TALLY_FILE, 'utf8'))
    : [];
  if (code === 0 || told.some(({ tally }) => tally.failed > 0)) return told;
  // Vitest failed outside of its tests: in a setup or a reporter, or by a signal.
  const failures = [{ test: 'vitest', why: `exit ${code}` }];
  return [...told, { step: 'vitest', seconds: 0, tally: { ...NOTHING, failed: 1, failures } }];
}

async function benchSmoke(): Promise<Tally> {
  const { code, output } = await run(
    process.execPath,
    [BENCH, '--smoke', ...(values.long ? ['--long'] : [])],
    {
      env: { NODE_COMPILE_CACHE: COMPILED },
      quiet: true,
    },
  );
  console.log(`\n── what the benches printed\n${output.trim()}`);
  return code === 0 ? NOTHING : failure('bench smoke', `The benchmarks ended with ${code}.`);
}

function testForm(): { [name: string]: string } {
  return {
    ...(values.long ? { TEST_LONG: 'yes' } : {}),
    ...(values.minutes === undefined ? {} : { TEST_MINUTES: values.minutes }),
    ...(values.seed === undefined ? {} : { TEST_SEED: values.seed }),
  };
}

/** `R1,S5`: tests whose name starts with one of these row numbers. */
function onlyRows(rows: string | undefined): string | undefined {
  return rows === undefined ? undefined : `\\b(${rows.split(',').join('|')})\\b`;
}

function report(): void {
  for (const { step: name, seconds, tally } of steps) {
    const counts = `${tally.passed} passed, ${tally.failed} failed, ${tally.skipped.length} skipped`;
    console.log(`\n${name}: ${seconds.toFixed(1)} s; ${counts}`);
    for (const { test, ms } of tally.slowest)
      console.log(`  ${String(ms).padStart(6)} ms  ${test}`);
  }
  const minutes = (performance.now() - started) / 60_000;
  console.log(`\nall of it: ${minutes.toFixed(1)} min`);
  console.log(`\n${summary(sum(steps.map(({ tally }) => tally)))}`);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        project: { type: 'string', multiple: true },
        testNamePattern: { type: 'string', short: 't' },
        check: { type: 'boolean', default: false },
        long: { type: 'boolean', default: false },
        only: { type: 'string' },
        minutes: { type: 'string' },
        seed: { type: 'string' },
      },
    });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return process.exit(USAGE_EXIT);
  }
}
