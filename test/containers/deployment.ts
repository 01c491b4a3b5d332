/** Starts docker-compose.yml as a user does, as a separate project. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, untilTrue } from '@cardea/testing';
import type { Base } from '../../scripts/containers/bases.ts';
import { docker, output } from '../../scripts/containers/docker.ts';

export type Running = {
  readonly name: string;
  readonly id: string;
  readonly service: string;
  /** For example `running` or `exited`. */
  readonly state: string;
  /** `healthy`, `unhealthy` or `starting`; empty without a health check. */
  readonly health: string;
  readonly exitCode: number;
};

export type Deployment = {
  readonly url: string;
  readonly mailbox: string;
  /** The folder in which make-env.sh stored the secrets. */
  readonly secrets: string;
  compose(...args: readonly string[]): Promise<string>;
  /** The containers of one service, or of all, including those that have ended. */
  containers(service?: string): Promise<readonly Running[]>;
  /** Waits until all containers of a service, or all of the deployment, are healthy. */
  untilHealthy(service?: string): Promise<void>;
  down(): Promise<void>;
};

const PROJECT = 'cardea-test';
const HEALTHY_MS_MAX = 300_000;
const LOOK_MS = 1000;

export async function deployment(
  command: readonly string[],
  bases: readonly Base[],
  settings: { readonly [name: string]: string } = {},
  files: readonly string[] = ['docker-compose.yml'],
): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-deployment-'));
  const file = join(folder, '.env');
  execFileSync('sh', ['deploy/make-env.sh', file], { stdio: 'ignore' });
  const [port, mailPort] = [await freePort(), await freePort()];
  const lines = Object.entries({
    GATEWAY_PORT: String(port),
    MAILBOX_PORT: String(mailPort),
    PUBLIC_URL: `http://localhost:${port}`,
    ...Object.fromEntries(bases.map(({ variable, image }) => [variable, image])),
    ...settings,
  }).map(([name, value]) => `${name}=${value}\n`);
  appendFileSync(file, lines.join(''));
  const [program = '', ...words] = command;
  const merged = files.flatMap((each) => ['--file', each]);
  const compose = (...args: readonly string[]): Promise<string> =>
    output(program, [...words, '--project-name', PROJECT, '--env-file', file, ...merged, ...args], {
      // The environment of the test run may contain variables that the file reads.
      env: { ENV: undefined, LOG_LEVEL: undefined, COMPOSE_PROFILES: undefined },
    });
  const containers = async (service?: string): Promise<readonly Running[]> => {
    const ids = (await docker('ps', '--all', '--quiet', '--filter', labelOf('project', PROJECT)))
      .split('\n')
      .filter(Boolean);
    if (ids.length === 0) return [];
    const all = (JSON.parse(await docker('inspect', ...ids)) as readonly Inspected[]).map(running);
    return all.filter((each) => service === undefined || each.service === service);
  };
  // A run that was killed may have left containers.
  await compose('down', '--volumes', '--remove-orphans', '--timeout', '1');
  return {
    url: `http://127.0.0.1:${port}`,
    mailbox: `http://127.0.0.1:${mailPort}`,
    secrets: join(folder, '.secrets'),
    compose,
    containers,
    async untilHealthy(service) {
      await untilTrue(
        async () => {
          const all = await containers(service);
          const isSo = all.every(({ state, health, exitCode }) =>
            state === 'exited' ? exitCode === 0 : health === 'healthy' || health === '',
          );
          // Each check starts two programs, which take processor time from the containers that it waits for.
          if (!isSo) await pause(LOOK_MS);
          return isSo;
        },
        { deadlineMs: HEALTHY_MS_MAX, what: `${service ?? 'all'} healthy` },
      );
    },
    async down() {
      await compose('down', '--volumes', '--remove-orphans', '--timeout', '1');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Saves the output of the containers, to investigate a failure. */
export async function keepLogs({ compose }: Deployment, name: string): Promise<void> {
  const folder = '.cache/failures';
  mkdirSync(folder, { recursive: true });
  const said = await compose('logs', '--no-color').catch(String);
  writeFileSync(join(folder, `${name}.log`), said);
}

type Inspected = {
  readonly Id: string;
  readonly Name: string;
  readonly State: {
    readonly Status: string;
    readonly ExitCode: number;
    readonly Health?: { readonly Status: string };
  };
  readonly Config: { readonly Labels: { readonly [name: string]: string } };
};

const labelOf = (what: string, value: string): string =>
  `label=com.docker.compose.${what}=${value}`;

const running = ({ Id, Name, State, Config }: Inspected): Running => ({
  id: Id,
  name: Name.replace(/^\//, ''),
  service: Config.Labels['com.docker.compose.service'] ?? '',
  state: State.Status,
  health: State.Health?.Status ?? '',
  exitCode: State.ExitCode,
});
