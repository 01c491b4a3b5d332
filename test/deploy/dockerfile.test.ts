import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { copiedOf, partsOf } from '../../deploy/closures.ts';
import { buildContext } from './rules/build-context.ts';
import * as rules from './rules/dockerfile-rules.ts';
import { playImage } from './rules/played-image.ts';
import { brokenRules, type Mutant, SERVICES } from './rules/rule.ts';

const context = buildContext();
const images = { service: rules.serviceImageRules, gateway: rules.imageRules };
const subjectOf = (target: string): rules.DockerfileSubject => ({
  text: readFileSync('deploy/Dockerfile', 'utf8'),
  target,
  context,
});

describe.each(Object.entries(images))('deploy/Dockerfile, %s', (target, held) => {
  it.each(held.map((rule) => [rule.name, rule] as const))('%s', (_, rule) => {
    expect(rule(subjectOf(target))).toEqual([]);
  });
});

describe("the gateway's image", () => {
  it('holds each document that nginx is told to answer with', () => {
    const template = readFileSync('deploy/gateway/nginx.conf.template', 'utf8');
    const served = [...template.matchAll(/alias \$\{STATIC\}\/([\w.]+);/g)].map(([, name]) => name);
    const copied = rules
      .copiedInto(subjectOf('gateway'), '/srv/gateway/')
      .map((path) => path.split('/').at(-1));
    expect(copied.toSorted()).toEqual(served.toSorted());
  });
});

/** Replaces a text, which has to be present, with another. */
const put =
  (old: string | RegExp, other: string) =>
  (subject: rules.DockerfileSubject): void => {
    const spoilt = subject.text.replace(old, other);
    if (spoilt === subject.text) throw new Error('the mutant is the original');
    subject.text = spoilt;
  };

const MIB = 1024 ** 2;
const IMAGE_MIB_MAX = 120;
/**
 * The size of a package without its own dependencies. Of the page that shows the API, only one file of its package
 * counts.
 */
function bytesBelow(home: string): number {
  const files = copiedOf(home).flatMap((path) => filesBelow(path));
  return files.reduce((sum, file) => sum + lstatSync(file).size, 0);
}
const filesBelow = (path: string): readonly string[] =>
  lstatSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => name !== 'node_modules')
        .flatMap((name) => filesBelow(join(path, name)))
    : [path];

const lastUser = /USER 10001:10001(?=\n.*src\/main\.ts)/;
const lastStart = /^CMD.*src\/main\.ts.*$/m;

const mutants: readonly Mutant<rules.DockerfileSubject>[] = [
  { what: 'no CMD', breaks: rules.hasAStart, spoil: put(lastStart, '') },
  { what: 'root', breaks: rules.endsAsNobody, spoil: put(lastUser, 'USER root') },
  { what: 'the group of root', breaks: rules.endsAsNobody, spoil: put(lastUser, 'USER 10001') },
  { what: 'no USER', breaks: rules.endsAsNobody, spoil: put(lastUser, '') },
  {
    what: 'a RUN behind the USER',
    breaks: rules.endsAsNobody,
    spoil: put(lastUser, '$&\nRUN mkdir /data'),
  },
  {
    what: 'a shell around the process',
    breaks: rules.startsWithoutShell,
    spoil: put(lastStart, 'CMD node src/main.ts'),
  },
  {
    what: 'no health check',
    breaks: rules.checksHealth,
    spoil: put(/^HEALTHCHECK.*\n.*bash.*$/m, 'HEALTHCHECK NONE'),
  },
  {
    what: 'a secret as an argument',
    breaks: rules.holdsNoSecret,
    spoil: put('ARG SERVICE\n', 'ARG SERVICE\nARG NPM_TOKEN\n'),
  },
  {
    what: 'a secret as a variable',
    breaks: rules.holdsNoSecret,
    spoil: put('ENV NODE_ENV=production', 'ENV JWT_SECRET=x NODE_ENV=production'),
  },
  {
    what: "the environment's file",
    breaks: rules.holdsNoSecret,
    spoil: put('COPY LICENSE', 'COPY .env LICENSE'),
  },
  {
    what: 'a source that is not there',
    breaks: rules.copiesWhatExists,
    spoil: put('COPY packages/ packages/', 'COPY packages/ packages/\nCOPY libraries/ libraries/'),
  },
  {
    what: 'a source that .dockerignore leaves out',
    breaks: rules.copiesWhatExists,
    spoil: put('COPY packages/ packages/', 'COPY packages/ packages/\nCOPY test/ test/'),
  },
  {
    what: 'a stage that comes later',
    breaks: rules.copiesFromItsStages,
    spoil: put('--from=manifests', '--from=runtime'),
  },
  {
    what: 'something from afar',
    breaks: rules.addsNothingFromAfar,
    spoil: put('WORKDIR /app', 'WORKDIR /app\nADD https://example.com/x.tar.gz /x'),
  },
  {
    what: 'another Node',
    breaks: rules.pinsItsBase,
    spoil: put('NODE_IMAGE=node:24.21.0-bookworm-slim', 'NODE_IMAGE=node:24'),
  },
  {
    what: 'a lockfile that is not kept to',
    breaks: rules.installsWhatIsLocked,
    spoil: put(' --frozen-lockfile', ''),
  },
  {
    what: 'what only development needs',
    breaks: rules.installsWhatIsLocked,
    spoil: put(' --prod', ''),
  },
  {
    what: 'packages left behind',
    breaks: rules.copiesTheClosure,
    spoil: put(/COPY packages\/ packages\//g, 'COPY packages/http/ packages/http/'),
  },
  {
    what: 'tests in it',
    breaks: rules.copiesTheClosure,
    spoil: (subject) => {
      subject.context = buildContext('node_modules');
    },
  },
  {
    what: 'a slice that .dockerignore takes for tests',
    breaks: rules.copiesWhatIsImported,
    spoil: (subject) => {
      subject.context = buildContext(`${readFileSync('.dockerignore', 'utf8')}\n**/test\n`);
    },
  },
  {
    what: 'secrets in its context',
    breaks: rules.contextHoldsNoSecret,
    spoil: (subject) => {
      subject.context = [...subject.context, 'services/standalone/.env'];
    },
  },
  {
    what: 'another folder',
    breaks: rules.startsTheService,
    spoil: put(/^WORKDIR \/app\/services.*$/m, 'WORKDIR /app'),
  },
];

describe('O6 a Dockerfile', () => {
  it.each(mutants)('O6 with $what is refused by $breaks.name', ({ breaks, spoil }) => {
    const subject = subjectOf('service');
    spoil(subject);
    expect(brokenRules(rules.serviceImageRules, subject)).toContain(breaks.name);
  });

  it('O6 has for each rule a broken one', () => {
    const tried = new Set(mutants.map(({ breaks }) => breaks.name));
    const names = rules.serviceImageRules.map(({ name }) => name);
    expect(names.filter((name) => !tried.has(name))).toEqual([]);
  });
});

describe('what an image holds above its base', () => {
  const services = [...SERVICES, 'standalone'];
  const parts = partsOf(process.cwd(), services);
  const packagesOf = (name: string): readonly string[] =>
    [...(parts.get('common') ?? []), ...(parts.get(name) ?? [])].map(([home]) => home);
  const has = (name: string, part: string): boolean =>
    packagesOf(name).some((home) => home.endsWith(part));

  it.each(SERVICES)(
    'is what %s needs: some 60 MB, and nothing of tests, tools and PostgreSQL',
    (name) => {
      const bytes = packagesOf(name).reduce((sum, home) => sum + bytesBelow(home), 0);
      expect(bytes / MIB).toBeGreaterThan(10);
      expect(bytes / MIB).toBeLessThan(IMAGE_MIB_MAX);
      for (const part of [
        'packages/local-postgres',
        'packages/testing',
        '/vitest',
        '/typescript',
      ]) {
        expect(has(name, part), part).toBe(false);
      }
      expect(has(name, `services/${name}`)).toBe(true);
    },
  );

  it('is PostgreSQL for the tools alone, which also serve as one process', () => {
    expect(has('standalone', 'packages/local-postgres')).toBe(true);
  });
});

describe('an image, played without an engine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-image-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('O4 holds one service that starts far enough to refuse eight bad settings in one message', () => {
    playImage(folder, 'identity');
    expect(readdirSync(join(folder, 'services'))).toEqual(['identity']);
    const packages = rules.closureOf('identity').filter((path) => path.startsWith('packages/'));
    expect(readdirSync(join(folder, 'packages')).map((name) => `packages/${name}`)).toEqual(
      packages.toSorted(),
    );
    const bad = { PORT: 'x', ENV: 'y', JWT_EXPIRY: 'z', TRUSTED_PROXIES: 'no', ADMIN_EMAIL: 'a@b' };
    const { status, stderr } = spawnSync(
      join(process.cwd(), 'node_modules/.bin/node'),
      ['src/main.ts'],
      { cwd: join(folder, 'services/identity'), env: bad, encoding: 'utf8', timeout: 60_000 },
    );
    const named = [
      'DATABASE_URL',
      'REDIS_URL',
      'JWT_SECRET',
      'ENCRYPTION_KEY',
      ...Object.keys(bad),
    ];
    const lines = stderr.trim().split('\n');
    expect({ status, lines: lines.length }).toEqual({ status: 78, lines: named.length + 1 });
    for (const name of named) {
      const told = name === 'ADMIN_EMAIL' ? 'ADMIN_PASSWORD' : name;
      expect(lines.some((line) => line.startsWith(`  ${told} `))).toBe(true);
    }
  });

  it('is described for every service that there is', () => {
    const folders = readdirSync('services').filter((name) => name !== 'standalone');
    expect(folders.toSorted()).toEqual([...SERVICES].toSorted());
  });
});
