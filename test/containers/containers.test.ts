/** Tests running containers: what they may do, what they use, and how they stop. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { restDriver, untilTrue } from '@cardea/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { docker } from '../../scripts/containers/docker.ts';
import { SERVICES } from '../deploy/rules/rule.ts';
import { type Deployment, deployment, keepLogs } from './deployment.ts';
import * as inspect from './inspection.ts';
import { isWhole, needEngine } from './need-engine.ts';
import { killAndWait, ROLLING_RESTARTS_MS_MAX, rollingRestarts } from './restarts.ts';
import {
  type Account,
  PASSWORD,
  registerService,
  repeatable,
  signInAgain,
  signUp,
  traffic,
} from './traffic.ts';

const needed = needEngine();
const IMAGES = [...SERVICES, 'standalone', 'gateway'];
/** The maximum size of an image in addition to its base. */
const IMAGE_MIB_MAX = 120;
const MIB = 1024 ** 2;
const IDLE_MS = 30_000;
const ANONYMOUS_MIB_MAX = 160;
/** Twice the usage on an idle machine. */
const IDLE_PERCENT_MAX = 20;

/** Often enough that the sign-in always counts as recent. */
const SIGNED_IN_AGAIN_EVERY_MS = 240_000;

const baseOf = (variable: string): string =>
  needed().bases.find((base) => base.variable === variable)?.image ?? '';

/** Signs in with an account from before, and returns the status. */
async function signsIn({ url }: Deployment, { email, tenant }: Account): Promise<number> {
  const caller = { tenant };
  const body = { email, password: PASSWORD };
  return (await restDriver({ baseUrl: url, caller }).post('/api/v1/auth/login', body)).status;
}

describe('with events in PostgreSQL', () => {
  let up: Deployment | undefined;
  let isUp = false;
  let account: Account | undefined;
  const its = (): Deployment => {
    if (up === undefined) throw new Error('nothing is up');
    return up;
  };
  /** Starts the deployment, unless an earlier test has. */
  const running = async (): Promise<Deployment> => {
    if (!isUp) await its().compose('up', '--wait', '--detach');
    isUp = true;
    return its();
  };
  const knownTo = async (deployed: Deployment): Promise<Account> => {
    if (account !== undefined) {
      account = await signInAgain(deployed.url, account);
      return account;
    }
    account = await signUp(deployed.url, 'ada@example.com');
    expect((await registerService(deployed.url, account)).status).toBe(201);
    return account;
  };

  beforeAll(async () => {
    const { compose, bases } = needed.found() ?? {};
    if (compose === undefined || bases === undefined) return;
    // A long test outlives the usual fifteen minutes of a token.
    up = await deployment(compose, bases, { JWT_EXPIRY: '24h' }).catch(() => undefined);
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail' && up !== undefined) await keepLogs(up, 'containers');
  });
  afterAll(async () => {
    await up?.down();
  });

  it('builds all images of one installation', async () => {
    const began = performance.now();
    await its().compose('build', '--quiet');
    console.log(`all images were built in ${seconds(began)}`);
  });

  it('comes up healthy', async () => {
    const began = performance.now();
    const all = await (await running()).containers();
    console.log(`up and healthy in ${seconds(began)}`);
    expect(all.filter(({ service }) => service === 'eventstore')).toEqual([]);
    expect(
      all.filter(({ service }) => service === 'migrate').map(({ exitCode }) => exitCode),
    ).toEqual([0]);
  });

  it('plays the tour as the guide says', async () => {
    const all = async () =>
      (await its().containers()).map(({ id }) =>
        docker('inspect', '--format', '{{.State.StartedAt}}', id),
      );
    await running();
    const before = await Promise.all(await all());
    const told = await its().compose('run', '--rm', '--no-deps', '--no-TTY', 'tour');
    expect(told).toContain('Every step answered as the story says.');
    expect(await Promise.all(await all()), 'nothing was started again').toEqual(before);
  });

  it('publishes two ports, to this machine alone', async () => {
    const port = (url: string) => new URL(url).host;
    expect(await inspect.publishedPorts(await running())).toEqual([
      `gateway ${port(its().url)}`,
      `mailbox ${port(its().mailbox)}`,
    ]);
  });

  it('confines each process of ours, and bounds every container', async () => {
    for (const container of await (await running()).containers()) {
      if (container.state !== 'running') continue;
      const found = await inspect.confinementOf(container);
      expect(found, container.service).toMatchObject({
        noNewPrivileges: '1',
        memoryBytes: expect.toSatisfy((bytes: number) => bytes >= 128 * MIB),
        processes: expect.toSatisfy((count: number) => count > 0),
      });
      if (inspect.OURS.includes(container.service)) {
        expect(found, container.service).toMatchObject({
          user: '10001:10001',
          groups: expect.not.arrayContaining(['0']),
          capabilities: '0000000000000000',
          isReadOnly: true,
        });
      }
    }
  });

  it('tells no secret to whoever lists containers and processes, or reads logs', async () => {
    const secrets = readdirSync(its().secrets)
      .map((name) => readFileSync(join(its().secrets, name), 'utf8'))
      .filter((text) => text.length >= 12 && !text.startsWith('smtp:'));
    expect(secrets.length).toBeGreaterThan(6);
    for (const container of await (await running()).containers()) {
      const told = await inspect.visibleText(container);
      expect(secrets.filter((secret) => told.includes(secret)).length, container.service).toBe(0);
    }
  });

  it.each(IMAGES)(
    'makes an image of %s that holds what it needs and nothing to install with',
    async (name) => {
      const image = `cardea/${name}`;
      const base = baseOf(name === 'gateway' ? 'NGINX_IMAGE' : 'NODE_IMAGE');
      const added = (await inspect.sizeOf(image)) - (await inspect.sizeOf(base));
      console.log(`${image}: ${added.toFixed(0)} MiB above ${base}`);
      // The image `standalone` contains PostgreSQL, so it may be larger.
      if (name !== 'standalone') expect(added).toBeLessThan(IMAGE_MIB_MAX);
      const unwanted = [
        ...[
          'npm',
          'npx',
          'pnpm',
          'yarn',
          'corepack',
          'apt-get',
          'apt',
          'dpkg',
          'gcc',
          'cc',
          'make',
          'perl',
        ],
        ...[
          '/app/packages/testing',
          '/app/scripts/bench',
          '/app/.env',
          '/app/test',
          '/root/.npm',
          '/root/.cache',
        ],
        ...(name === 'standalone' ? [] : ['/app/packages/local-postgres']),
      ];
      expect(await inspect.existingIn(image, unwanted)).toEqual([]);
      const held = await docker(
        ...['run', '--rm', '--entrypoint', 'sh', image, '-c'],
        'find /app -name "*.test.ts" -not -path "*/node_modules/*" 2>/dev/null; ls -d /app/services/* 2>/dev/null; true',
      );
      const own =
        name === 'standalone'
          ? inspectServices()
          : name === 'gateway'
            ? []
            : [`/app/services/${name}`];
      expect(held.split('\n').filter(Boolean).toSorted()).toEqual(own.toSorted());
    },
  );

  it('idles on little of a core and of the memory', async () => {
    const idle = await (await running()).containers();
    const six = idle.filter(({ service }) => (SERVICES as readonly string[]).includes(service));
    const before = await Promise.all(six.map(inspect.usageOf));
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const after = await Promise.all(six.map(inspect.usageOf));
    const rows = six.map(({ service }, at) => {
      const used = (after[at]?.cpuSeconds ?? 0) - (before[at]?.cpuSeconds ?? 0);
      const percent = (used / IDLE_MS) * 1000 * 100;
      return { service, percent, anonymousMib: after[at]?.anonymousMib ?? 0 };
    });
    for (const { service, percent, anonymousMib } of rows) {
      console.log(`${service}: ${percent.toFixed(1)} % of a core, ${anonymousMib.toFixed(0)} MiB`);
    }
    const together = rows.reduce((sum, { percent }) => sum + percent, 0);
    console.log(`together ${together.toFixed(1)} %`);
    expect(together).toBeLessThan(IDLE_PERCENT_MAX);
    for (const { service, anonymousMib } of rows) {
      expect(anonymousMib, service).toBeGreaterThan(0);
      expect(anonymousMib, service).toBeLessThan(ANONYMOUS_MIB_MAX);
    }
  });

  it('stops in order, and comes up again with its data', async () => {
    const who = await knownTo(await running());
    await its().compose('stop');
    const codes = (await its().containers()).map(
      ({ service, exitCode }) => `${service} ${exitCode}`,
    );
    // A Java VM that SIGTERM ends exits with status 143.
    expect(codes.filter((each) => !/ 0$/.test(each) && each !== 'kafka 143')).toEqual([]);
    await its().compose('up', '--wait', '--detach');
    expect(await signsIn(its(), who)).toBe(200);
  });

  it.runIf(isWhole)(
    'O9 loses no request that can be repeated while replicas are restarted',
    { timeout: ROLLING_RESTARTS_MS_MAX },
    async () => {
      await its().compose('up', '--wait', '--detach', ...scaled(2));
      await its().untilHealthy();
      let who = await knownTo(its());
      const renewing = setInterval(async () => {
        who = await signInAgain(its().url, who).catch(() => who);
      }, SIGNED_IN_AGAIN_EVERY_MS);
      const going = traffic(repeatable(its().url, () => who));
      const restarts = await rollingRestarts(its());
      clearInterval(renewing);
      const { answered, lost } = await going.stop();
      console.log(
        `${answered} answered, ${lost.length} lost in ${restarts} restarts of replicas`,
        lost,
      );
      expect(lost).toEqual([]);
    },
  );

  it.runIf(isWhole)('loses nothing that it confirmed when containers are killed', async () => {
    // One replica of each service, so that the killed containers are all that there are.
    await its().compose('up', '--wait', '--detach', ...scaled(1));
    const who = await knownTo(its());
    const confirmed = new Set<string>();
    let made = 0;
    const going = traffic({
      'POST vault': async () => {
        const name = `made-${made++}`;
        const { status } = await registerService(its().url, who, name);
        if (status === 201) confirmed.add(name);
        return status;
      },
    });
    for (const each of await its().containers()) {
      if (each.state === 'running') await killAndWait(its(), each);
    }
    console.log(`killed ${(await its().containers()).length - 1} containers`);
    const enough = confirmed.size + 5;
    await untilTrue(() => confirmed.size > enough, { what: 'writes go on' });
    await going.stop();
    const caller = { bearer: who.bearer, tenant: who.tenant };
    const client = restDriver({ baseUrl: its().url, caller });
    for (const name of confirmed) {
      expect((await client.get(`/api/v1/vault/services/${name}`)).status, name).toBe(200);
    }
    console.log(
      `${confirmed.size} writes were confirmed while containers were killed, all are there`,
    );
  });
});

const seconds = (began: number): string => `${((performance.now() - began) / 1000).toFixed(0)} s`;
const scaled = (count: number): readonly string[] =>
  SERVICES.flatMap((service) => ['--scale', `${service}=${count}`]);
const inspectServices = (): readonly string[] =>
  [...SERVICES, 'standalone'].map((name) => `/app/services/${name}`);
