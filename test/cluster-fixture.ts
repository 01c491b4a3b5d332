/**
 * All of Cardea as separate processes for one test file, as `npm run cluster` starts them, with separate servers. If a
 * dependency is not available, the file's tests are skipped by name.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, lastOf, type ServiceProcess, startCluster } from '@cardea/cluster';
import type { ServiceName } from '@cardea/contracts';
import { needKafka, needRedis, type RestDriver, restDriver } from '@cardea/testing';
import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest';
import { nginxCommand, startGateway } from '../scripts/gateway/start.ts';
import { CHEAP_HASHES } from './faults/instance.ts';

/** Many times longer than an idle machine takes. */
const START_MS_MAX = 400_000;
const STOP_MS_MAX = 180_000;
const FAILURES = '.cache/failures';

export type TestCluster = {
  readonly cluster: Cluster;
  readonly folder: string;
  /** Sends requests through the gateway. */
  readonly rest: RestDriver;
  /** Sends requests directly to one replica, counted from 1. */
  at(service: ServiceName, replica: number): RestDriver;
  replica(service: ServiceName, replica: number): ServiceProcess;
};

/** Call it once, at the top of a file. */
export function testCluster(of: {
  readonly replicas: number;
  readonly env?: { readonly [name: string]: string };
}): TestCluster {
  const missing = [inject('postgres'), needRedis(), needKafka()].find((each) => 'missing' in each);
  const why = whyNot(missing);
  beforeEach((context) => {
    if (why !== undefined) context.skip(why);
  });
  let folder: string | undefined;
  let running: Cluster | undefined;
  beforeAll(async () => {
    if (why !== undefined) return;
    folder = mkdtempSync(join(tmpdir(), 'cardea-cluster-'));
    running = await startCluster({
      folder,
      temporary: true,
      replicas: of.replicas,
      startGateway,
      postgresPassword: randomBytes(18).toString('base64url'),
      env: {
        JWT_SECRET: randomBytes(32).toString('hex'),
        ENCRYPTION_KEY: randomBytes(32).toString('hex'),
        CARDEA_DATA: folder,
        ...CHEAP_HASHES,
        ...of.env,
      },
    });
  }, START_MS_MAX);
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return;
    const all = running?.processes ?? [];
    keepLogs(task.name, all);
    const told = JSON.stringify(task.result.errors);
    const said = [...endedOf(all), ...refusedBy(all, told)];
    if (said.length > 0) throw new Error(said.join('; ').replaceAll('\n', ' '));
  });
  afterAll(async () => {
    await running?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }, STOP_MS_MAX);
  const cluster = (): Cluster => {
    if (running === undefined) throw new Error('The cluster exists from beforeAll on.');
    return running;
  };
  const replica = (service: ServiceName, number: number): ServiceProcess => {
    const found = cluster().of(service)[number - 1];
    if (found === undefined) throw new Error(`${service} has no replica ${number}`);
    return found;
  };
  return {
    get cluster() {
      return cluster();
    },
    get folder() {
      if (folder === undefined) throw new Error('The folder exists from beforeAll on.');
      return folder;
    },
    get rest() {
      return restDriver({ baseUrl: cluster().addresses().gateway });
    },
    at: (service, number) => restDriver({ baseUrl: replica(service, number).api }),
    replica,
  };
}

function whyNot(missing: object | undefined): string | undefined {
  if (missing !== undefined && 'missing' in missing) return String(missing.missing);
  return nginxCommand() === undefined ? 'nginx is missing' : undefined;
}

export type Company = {
  readonly tenant: string;
  readonly bearer: string;
  readonly userId: string;
};

/** Signs up a company: a tenant of its own and its admin. */
export async function company(rest: RestDriver): Promise<Company> {
  const name = randomBytes(4).toString('hex');
  const answer = await rest.post('/api/v1/auth/signup', {
    email: `admin-${name}@example.com`,
    password: 'a password for the tests',
    company_name: `Company ${name}`,
  });
  if (answer.status !== 201) throw new Error(`sign-up answered ${answer.status}`);
  const { tenant_id: tenant, access_token: bearer, user_id: userId } = answer.body;
  return { tenant, bearer, userId };
}

function endedOf(processes: readonly ServiceProcess[]): readonly string[] {
  return processes
    .filter(({ alive }) => !alive)
    .map((each) => `ended meanwhile: ${each.name}${lastOf(each)}`);
}

/** Returns what the processes logged about the requests whose ids a test's errors contain. */
function refusedBy(processes: readonly ServiceProcess[], errors: string): readonly string[] {
  const ids = new Set(errors.match(/\b[0-9a-f]{32}\b/g));
  return processes.flatMap((each) =>
    each
      .output()
      .split('\n')
      .filter((line) => [...ids].some((id) => line.includes(id)))
      .map((line) => `${each.name}: ${line}`),
  );
}

function keepLogs(test: string, processes: readonly ServiceProcess[]): void {
  const folder = join(FAILURES, test.replaceAll(/[^\w]+/g, '-').slice(0, 80));
  mkdirSync(folder, { recursive: true });
  for (const each of processes) writeFileSync(join(folder, `${each.name}.log`), each.output());
}
