/** The first steps of a newcomer: a clone, `npm start`, a sign-up, and the same again without a network. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterOf } from '@cardea/local-postgres';
import { freePorts, processFixture, restDriver, testForm } from '@cardea/testing';
import { describe, expect, it } from 'vitest';

const NODE_18 = ['node@18', 'npm@10'];
const INSTALL_MS_MAX = 600_000;
/** The address of a registry that does not answer. */
const NOWHERE = 'http://127.0.0.1:1/';

const fixture = processFixture();
const isRoot = process.getuid?.() === 0;

/** The registry of the user who runs the tests. None of that user's other settings is used. */
const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
const certificates = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'].flatMap((name) => {
  const file = process.env[name];
  return file === undefined ? [] : [[name, file] as const];
});

type Newcomer = {
  readonly home: string;
  readonly path: string;
  /** Words that are put before each command, to run it as that user. */
  readonly as: readonly string[];
};

function newcomer(asNobody: boolean): Newcomer {
  const home = mkdtempSync(join(tmpdir(), 'cardea-newcomer-'));
  fixture.onEnd(() => {
    rmSync(clusterOf(join(home, 'cardea/.cardea/postgres')), { recursive: true, force: true });
    rmSync(home, { recursive: true, force: true });
  });
  const as = asNobody ? ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'] : [];
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', '.', join(home, 'cardea')]);
  if (asNobody) execFileSync('chown', ['-R', 'nobody:nogroup', home]);
  chmodSync(home, 0o700);
  return { home, path: process.env['PATH'] ?? '', as };
}

/** A newcomer whose PATH begins with the oldest Node with which the product promises to start. */
function withNode18(of: Newcomer): Newcomer {
  const folder = join(of.home, 'node-18');
  mkdirSync(folder);
  if (isRoot && of.as.length > 0) chownSync(folder, 65_534, 65_534);
  execFileSync('npm', ['install', '--silent', '--prefix', folder, ...NODE_18]);
  // The PATH leaves out the links of our own installation, which has another Node.
  return { ...of, path: `${join(folder, 'node_modules/.bin')}:/usr/local/bin:/usr/bin:/bin` };
}

async function start({ home, path, as }: Newcomer, from: string) {
  const [port, managementPort] = await freePorts(2);
  const [command = '', ...args] = [...as, 'npm', 'start'];
  const running = await fixture.start({
    ...{ name: 'newcomer', command, args, cwd: join(home, 'cardea') },
    env: {
      ...{ HOME: home, PATH: path, PORT: String(port), MANAGEMENT_PORT: String(managementPort) },
      npm_config_registry: from,
      ...Object.fromEntries(certificates),
    },
    ready: /Ctrl-C/,
    deadlineMs: INSTALL_MS_MAX,
  });
  return { running, rest: restDriver({ baseUrl: `http://127.0.0.1:${port}` }) };
}

describe.runIf(testForm.long && process.platform === 'linux')('O1 a fresh clone', () => {
  it.each([
    { what: 'with Node 18, as root below a home that nobody else can enter', asNobody: false },
    { what: 'with Node 18, as a plain user', asNobody: true },
    { what: 'with the pinned Node, as a plain user', asNobody: true, own: true },
  ])('starts $what, and again without a network', { timeout: 2 * INSTALL_MS_MAX }, async (of) => {
    const someone = newcomer(of.asNobody && isRoot);
    const user = of.own ? someone : withNode18(someone);
    const first = await start(user, registry);
    expect((await first.rest.get('/health')).status).toBe(200);
    const body = { company_name: 'Acme', email: 'ann@example.com', password: 'a long password' };
    const signedUp = await first.rest.post('/api/v1/auth/signup', body);
    expect(signedUp.status, signedUp.text).toBe(201);
    expect(await first.running.end('SIGTERM')).toBe(0);

    const again = await start(user, NOWHERE);
    const { email, password } = body;
    const { tenant_id: tenant } = signedUp.body;
    const signedIn = await again.rest.post('/api/v1/auth/login', { email, password }, { tenant });
    expect(signedIn.status, signedIn.text).toBe(200);
    expect(await again.running.end('SIGTERM')).toBe(0);
  });
});
