/** One replica of one service: a process on ports that it keeps over restarts. */
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '@cardea/contracts';
import { type FixtureProcess, programOf, SERVICE_FOLDERS, startProcess } from '@cardea/testing';
import { LOOPBACK, urlOf } from './hosts.ts';

const START_MS_MAX = 180_000;
const LOOK_EVERY_MS = 100;
const LOOK_MS_MAX = 10_000;
const LINES_SHOWN = 15;

export type Ports = {
  readonly api: number;
  readonly management: number;
  readonly internal: number;
};

export type ServiceProcess = {
  readonly service: ServiceName;
  /** The number of the replica, from 1. */
  readonly replica: number;
  readonly name: string;
  readonly api: string;
  readonly management: string;
  readonly internal: string;
  readonly ports: Ports;
  /** 0 before the first start. */
  readonly pid: number;
  /** True from a start until the process ends, for whatever reason. */
  readonly alive: boolean;
  /**
   * Resolves when its probe says that it has started; throws {@link ServiceEnded}. Can be called again
   * after an end.
   */
  start(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Sends the signal and waits; returns exit code or signal. */
  end(name: NodeJS.Signals, deadlineMs?: number): Promise<number | NodeJS.Signals>;
  /** The end of the current or last run. */
  ended(): Promise<number | NodeJS.Signals>;
  output(): string;
};

/** A process that ended, or did not start; the message ends with its last output. */
export class ServiceEnded extends Error {
  override readonly name = 'ServiceEnded';
}

export type ServiceToRun = {
  readonly service: ServiceName;
  readonly replica: number;
  readonly ports: Ports;
  readonly env: { readonly [name: string]: string };
  readonly logFile: string;
};

export function serviceProcess(of: ServiceToRun): ServiceProcess {
  const { service, replica, ports } = of;
  const name = `${service}-${replica}`;
  const host = of.env['HOST'] ?? LOOPBACK;
  const management = urlOf(host, ports.management);
  let running: FixtureProcess | undefined;
  let alive = false;
  const present = (): FixtureProcess => {
    if (running === undefined) throw new Error(`${name} was never started`);
    return running;
  };
  return {
    service,
    replica,
    name,
    ports,
    api: urlOf(host, ports.api),
    management,
    internal: urlOf(host, ports.internal),
    get pid() {
      return running?.pid ?? 0;
    },
    get alive() {
      return alive;
    },
    async start() {
      const folder = new URL(`../../../services/${SERVICE_FOLDERS[service]}/`, import.meta.url);
      const child = await startProcess({
        name,
        script: programOf(new URL('src/main.ts', folder)),
        cwd: fileURLToPath(folder),
        env: { ...of.env, ...environmentOf(ports) },
        detached: true,
        logFile: of.logFile,
      });
      running = child;
      alive = true;
      const over = child.ended.then((how) => {
        alive = false;
        return how;
      });
      await untilStarted({ name, management, child, over });
    },
    signal: (signal) => present().signal(signal),
    end: (signal, deadlineMs) => present().end(signal, deadlineMs),
    ended: () => present().ended,
    output: () => running?.output() ?? '',
  };
}

const environmentOf = ({ api, management, internal }: Ports) => ({
  PORT: String(api),
  MANAGEMENT_PORT: String(management),
  INTERNAL_PORT: String(internal),
});

async function untilStarted(of: {
  readonly name: string;
  readonly management: string;
  readonly child: FixtureProcess;
  readonly over: Promise<number | NodeJS.Signals>;
}): Promise<void> {
  const { name, management, child } = of;
  let how: number | NodeJS.Signals | undefined;
  void of.over.then((end) => {
    how = end;
  });
  const deadline = performance.now() + START_MS_MAX;
  while (performance.now() < deadline) {
    if (how !== undefined) throw new ServiceEnded(`${name} ended (${how})${lastOf(child)}`);
    if (await isStarted(management)) return;
    await pause(LOOK_EVERY_MS);
  }
  child.signal('SIGKILL');
  throw new ServiceEnded(`${name} did not start in ${START_MS_MAX / 1000} s${lastOf(child)}`);
}

export function lastOf(child: { output(): string }): string {
  const lines = child.output().trim().split('\n').slice(-LINES_SHOWN);
  return lines.join('') === '' ? ' and said nothing' : `:\n${lines.join('\n')}`;
}

/** Whether its probes report the start and its API port, which opens last, is open. */
async function isStarted(management: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(LOOK_MS_MAX);
    const answer = await fetch(`${management}/readyz`, { signal });
    await answer.body?.cancel();
    return answer.status === 200;
  } catch {
    return false;
  }
}
