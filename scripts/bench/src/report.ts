/** Writes the results of a run: JSON, and a table to read. Absolute figures are for information. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './compare.ts';
import type { Measured, Row } from './harness.ts';
import { type BenchServer, settingsOf } from './server.ts';

const OUT = fileURLToPath(new URL('../../../.cache/bench/', import.meta.url));
const SYNCS = 200;
const PAGE_BYTES = 8192;

const SETTINGS = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'data_checksums',
  'shared_buffers',
  'max_wal_size',
  'max_connections',
];

type Box = {
  readonly time: string;
  readonly commit: string;
  readonly dirty: boolean;
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly postgres: Readonly<Record<string, string>>;
  readonly fdatasync_ms: number;
  readonly load_before: number;
};

export async function describeMachine(server: BenchServer, loadBefore: number): Promise<Box> {
  const git = (...args: string[]) => {
    try {
      return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return '';
    }
  };
  return {
    time: new Date().toISOString(),
    commit: git('rev-parse', '--short', 'HEAD').trim() || 'unknown',
    dirty: git('status', '--porcelain').trim() !== '',
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    node: process.version,
    postgres: await settingsOf(server, SETTINGS),
    fdatasync_ms: fdatasyncMs(server.folder),
    load_before: loadBefore,
  };
}

export async function writeReport(box: Box, rows: readonly Row[]): Promise<void> {
  const header = { ...box, load_after: loadavg()[0] ?? 0 };
  const flat = rows.map((row) => ({
    ...row,
    p50_ms: row.subject_measured.p50_ms,
    p99_ms: row.subject_measured.p99_ms,
  }));
  const name = box.time.replaceAll(':', '-').slice(0, 19);
  mkdirSync(OUT, { recursive: true });
  writeFileSync(join(OUT, `${name}.json`), `${JSON.stringify({ header, rows: flat }, null, 2)}\n`);
  const text = markdown(header, rows);
  writeFileSync(join(OUT, `${name}.md`), text);
  console.log(`\n${text}\nwritten to .cache/bench/${name}.md and .json`);
}

function markdown(header: Box & { readonly load_after: number }, rows: readonly Row[]): string {
  const postgres = Object.entries(header.postgres).map(([key, value]) => `${key} ${value}`);
  const lines = rows.map((row) => {
    const verdict = [row.verdict, ...row.marks].join(', ');
    const range = `${row.ratio.toFixed(2)} (${row.min.toFixed(2)}-${row.max.toFixed(2)})`;
    const both = [figures(row.subject_measured), figures(row.floor_measured)];
    return `| ${[row.id, row.subject, row.floor, row.figure, range, row.goal, verdict, ...both].join(' | ')} |`;
  });
  return [
    `Commit ${header.commit}${header.dirty ? ' (dirty)' : ''}, ${header.time}; ${header.cores} cores of ${header.cpu}; Node ${header.node}; ` +
      `load ${header.load_before.toFixed(2)} before, ${header.load_after.toFixed(2)} after; fdatasync ${header.fdatasync_ms.toFixed(2)} ms.`,
    `PostgreSQL: ${postgres.join(', ')}.`,
    '',
    '| row | subject | floor | by | ratio (min-max) | goal | verdict | subject: /s, p50, p99 ms, CPU ms, MB | floor |',
    '|---|---|---|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

const figures = (measured: Measured): string =>
  [
    digits(measured.per_second, 0),
    digits(measured.p50_ms, 2),
    digits(measured.p99_ms, 2),
    digits(measured.cpu_ms, 3),
    digits(measured.rss_mb, 0),
  ].join(', ');

const digits = (value = Number.NaN, count = 0): string =>
  Number.isNaN(value) ? '–' : value.toFixed(count);

function fdatasyncMs(folder: string): number {
  const path = join(folder, 'fdatasync');
  const file = openSync(path, 'w');
  const page = Buffer.alloc(PAGE_BYTES);
  const times = Array.from({ length: SYNCS }, (_, index) => {
    writeSync(file, page, 0, PAGE_BYTES, index * PAGE_BYTES);
    const start = performance.now();
    fdatasyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  rmSync(path);
  return median(times);
}
