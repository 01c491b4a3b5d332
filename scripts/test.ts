/**
 * `npm test`: every step of a run, one after another, and what they came to.
 *
 *   npm test                             all steps
 *   npm test -- --project int -t R23     tests of one or more projects, by name; further words are file filters
 *   npm run check                        format, lint, types, dead code
 *   npm run test:long [-- --only R1,S5 --minutes N --seed S]
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  handDown,
  handDownKafka,
  handDownRedis,
  startKafkaOfRun,
  startPostgresOfRun,
  startRedisOfRun,
} from '@cardea/testing';
import { migrateTemplate } from '../test/migrate-template.ts';
import { interruption, type Ran, run } from './test/run.ts';
import { type Failure, NOTHING, sum, summary, type Tally } from './test/tally.ts';

/** In the order in which they run. */
const PROJECTS = ['unit', 'deploy', 'int', 'story', 'security', 'fuzz', 'faults'];
const WITHOUT_SERVERS = ['unit', 'deploy'];
const TALLIES = '.cache/test';
/** Of all processes that tests start, vitest's own included. */
const COMPILED = resolve('.cache/compiled');
const BENCH = 'scripts/bench.ts';
const USAGE_EXIT = 2;

const { values, positionals } = readArguments();
const filtered = values.testNamePattern !== undefined || values.only !== undefined;
const chosen = values.project ?? PROJECTS;
const isWholeRun = !filtered && values.project === undefined && positionals.length === 0;

const tallies: Tally[] = [];
const times: { step: string; seconds: number; tally: Tally }[] = [];
/** Started by the first project that needs them. */
let servers: { readonly env: NodeJS.ProcessEnv; stop(): Promise<void> } | undefined;

mkdirSync(TALLIES, { recursive: true });
process.exitCode = await everything();

async function everything(): Promise<number> {
  const checksHold = !(isWholeRun || values.check) || (await step('check', check));
  if (checksHold && !values.check) {
    try {
      for (const project of chosen) await step(project, () => tests(project));
    } finally {
      await servers?.stop();
    }
    if (isWholeRun && existsSync(BENCH)) await step('bench smoke', benchSmoke);
  }
  report();
  const failed = tallies.some((tally) => tally.failed > 0);
  return interruption.code ?? (failed ? 1 : 0);
}

/** Answers whether nothing failed. */
async function step(name: string, work: () => Promise<Tally>): Promise<boolean> {
  if (interruption.code !== undefined) return false;
  const started = performance.now();
  console.log(`\n── ${name}`);
  const tally = await work().catch((error: unknown) => failure(name, error));
  const seconds = (performance.now() - started) / 1000;
  tallies.push(tally);
  times.push({ step: name, seconds, tally });
  return tally.failed === 0;
}

function failure(name: string, error: unknown): Tally {
  console.error(error instanceof Error ? error.message : error);
  return { ...NOTHING, failed: 1, failures: [{ test: name }] };
}

/** Format, lint and imports; types; dead code. All three are told, though the first may fail. */
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

async function tests(project: string): Promise<Tally> {
  if (!WITHOUT_SERVERS.includes(project)) servers ??= await startServers();
  const file = `${TALLIES}/${project}.json`;
  rmSync(file, { force: true });
  const pattern = values.testNamePattern ?? onlyRows(values.only);
  const ran = await run(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      ...['--project', project],
      ...['--reporter', 'default', '--reporter', './scripts/test/tally-reporter.ts'],
      ...(pattern === undefined ? [] : ['-t', pattern]),
      ...positionals,
    ],
    {
      env: {
        TALLY_FILE: file,
        NODE_COMPILE_CACHE: COMPILED,
        ...(filtered ? { TALLY_FILTERED: 'yes' } : {}),
        ...servers?.env,
        ...testForm(),
      },
    },
  );
  return tallyOf(project, file, ran);
}

async function startServers() {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    for (const server of started.toReversed()) await server.stop();
  };
  try {
    const postgres = await startPostgresOfRun(migrateTemplate);
    started.push(postgres);
    const redis = await startRedisOfRun();
    started.push(redis);
    const kafka = await startKafkaOfRun();
    started.push(kafka);
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

function tallyOf(project: string, file: string, { code }: Ran): Tally {
  const tally: Tally = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : NOTHING;
  if (code === 0 || tally.failed > 0) return tally;
  // Broke before or beside its tests: a setup, a reporter, a signal.
  return { ...tally, failed: 1, failures: [{ test: project, why: `exit ${code}` }] };
}

async function benchSmoke(): Promise<Tally> {
  const { code } = await run(process.execPath, [BENCH, '--smoke'], {
    env: { NODE_COMPILE_CACHE: COMPILED },
  });
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
  for (const { step: name, seconds, tally } of times) {
    const counts = `${tally.passed} passed, ${tally.failed} failed, ${tally.skipped.length} skipped`;
    console.log(`\n${name}: ${seconds.toFixed(1)} s; ${counts}`);
    for (const { test, ms } of tally.slowest)
      console.log(`  ${String(ms).padStart(6)} ms  ${test}`);
  }
  console.log(`\n${summary(sum(tallies))}`);
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
