/** Prometheus on this machine, built once from its Go module. It validates rules and configuration, and loads them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort, untilTrue } from '@cardea/testing';
import { buildGoPrograms } from './go-programs.ts';

/** 3.5.0, by the number of the module. */
const VERSION = 'v0.305.0';
const BIN = resolve('.cache/prometheus', VERSION);
const SERVER = join(BIN, 'prometheus');
export const PROMTOOL = join(BIN, 'promtool');
const START_MS_MAX = 120_000;

export const isPrometheusBuilt = (): boolean => [SERVER, PROMTOOL].every(existsSync);

/** Takes about 10 minutes of one core. */
export async function buildPrometheus(): Promise<void> {
  if (isPrometheusBuilt()) return;
  console.log(`Building Prometheus ${VERSION} of its module …`);
  await buildGoPrograms({
    module: `github.com/prometheus/prometheus@${VERSION}`,
    folder: BIN,
    programs: { [PROMTOOL]: './cmd/promtool', [SERVER]: './cmd/prometheus' },
    // Builds only the service discovery that we use, because those of clouds are most of the code.
    prepare: (copy) =>
      writeFileSync(
        join(copy, 'plugins/plugins.go'),
        'package plugins\n\nimport _ "github.com/prometheus/prometheus/discovery/dns"\n',
      ),
  });
}

export type Prometheus = {
  /** Returns `data` of the API's response. Throws with the API's message if it refuses. */
  ask<T>(path: string, query?: { readonly [name: string]: string }): Promise<T>;
  stop(): Promise<void>;
};

/** Starts Prometheus with this configuration, in a separate folder. */
export async function startPrometheus(configuration: string): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-prometheus-'));
  const [file, logFile] = [join(folder, 'prometheus.yaml'), join(folder, 'log')];
  writeFileSync(file, configuration);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(logFile, 'a');
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`];
  const child: ChildProcess = spawn(SERVER, [...args, `--web.listen-address=127.0.0.1:${port}`], {
    stdio: ['ignore', log, log],
  });
  const stop = async (): Promise<void> => {
    const gone = new Promise((done) => child.once('exit', done));
    if (child.exitCode === null && child.kill('SIGTERM')) await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  const isReady = async (): Promise<boolean> =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    await untilTrue(isReady, { deadlineMs: START_MS_MAX, what: 'Prometheus is ready' });
  } catch (error) {
    console.error(readFileSync(logFile, 'utf8').slice(-2000));
    await stop();
    throw error;
  }
  return {
    ask: async (path, query = {}) => {
      const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(query)}`);
      const { status, data, error } = (await response.json()) as {
        status: string;
        data: never;
        error?: string;
      };
      if (status !== 'success') throw new Error(`${path}: ${error}`);
      return data;
    },
    stop,
  };
}
