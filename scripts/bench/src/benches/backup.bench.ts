/** backup: `cardea backup` of a million events compared with `pg_dump` of the same database. */
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, BenchContext, Measured, Row, Side } from '../harness.ts';
import { familyMs } from '../processor-time.ts';
import { CARDEA, dataFolder, eventsOf, fill, withClient } from '../subjects/backup-database.ts';

const SLOWER_MAX = 1.5;

export const benches: readonly Bench[] = [
  { id: 'backup', title: 'a backup of a million events compared with pg_dump', run: backups },
];

async function backups(context: BenchContext): Promise<readonly Row[]> {
  const url = await context.database();
  const missing = await whyNoDump(url);
  if (missing !== undefined) {
    console.log(`  not run: ${missing}`);
    return [];
  }
  const events = eventsOf(context);
  await fill(url, events);
  const folder = dataFolder(context);
  const side = (name: string, command: (to: string) => readonly string[]): Side => ({
    name,
    measure: async () => {
      const to = join(folder, randomUUID());
      const [program = '', ...args] = command(to);
      const measured = await timed({ program, args, url, events });
      const seconds = (measured.p50_ms / 1000).toFixed(1);
      const cpuSeconds = (((measured.cpu_ms ?? 0) * events) / 1000).toFixed(1);
      console.log(`  ${name}: ${seconds} s, CPU ${cpuSeconds} s, ${megabytes(to)} MB`);
      rmSync(to, { recursive: true, force: true });
      return measured;
    },
  });
  const cardea = side('cardea backup', (to) => [
    ...[process.execPath, CARDEA, 'backup', '--data', folder, '--out', to],
  ]);
  const dump = (name: string, ...format: readonly string[]): Side =>
    side(name, (to) => ['pg_dump', ...format, '--file', to, '--dbname', url]);
  const goal = { at_most: SLOWER_MAX };
  const custom = dump('pg_dump --format=custom', '--format=custom');
  const plain = dump('pg_dump', '--format=plain');
  return [
    await context.compare({
      id: 'backup / pg_dump custom',
      subject: cardea,
      floor: custom,
      figure: 'p50_ms',
      goal,
    }),
    // Without compression, which is the minimum cost of reading the rows.
    await context.compare({
      id: 'backup / pg_dump plain',
      subject: cardea,
      floor: plain,
      figure: 'p50_ms',
      goal,
    }),
  ];
}

/** The program has to be at least as new as the server. */
async function whyNoDump(url: string): Promise<string | undefined> {
  const majorOf = (version: string): number => Number(/(\d+)\./.exec(version)?.[1]);
  try {
    const dump = majorOf(execFileSync('pg_dump', ['--version'], { encoding: 'utf8' }));
    const server = majorOf(await versionOf(url));
    return dump >= server ? undefined : `pg_dump ${dump} is older than the server, ${server}`;
  } catch {
    return 'there is no pg_dump on the path';
  }
}

const versionOf = (url: string): Promise<string> =>
  withClient(url, async (client) => {
    const { rows } = await client.query('SHOW server_version');
    return rows[0]?.server_version;
  });

type Timed = {
  readonly program: string;
  readonly args: readonly string[];
  readonly url: string;
  readonly events: number;
};

async function timed({ program, args, url, events }: Timed): Promise<Measured> {
  // The server is a child of this process, too.
  const usedBeforeMs = familyMs(process.pid);
  const began = performance.now();
  const child = spawn(program, args, {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  const tookMs = performance.now() - began;
  const usedMs = familyMs(process.pid) - usedBeforeMs;
  return {
    per_second: events / (tookMs / 1000),
    p50_ms: tookMs,
    p99_ms: tookMs,
    cpu_ms: usedMs / events,
    errors: code === 0 ? 0 : 1,
    count: events,
  };
}

function megabytes(path: string): string {
  const { size } = statSync(path);
  const files = statSync(path).isDirectory() ? readdirSync(path) : [];
  const bytes = files.reduce((sum, file) => sum + statSync(join(path, file)).size, size);
  return (bytes / 1e6).toFixed(0);
}
