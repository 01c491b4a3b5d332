/** Starts, administers and stops a Keycloak from the distribution on Maven. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePorts, type ProcessFixture } from '@cardea/testing';

const VERSION = '26.7.3';
const CACHE = resolve(import.meta.dirname, '../../../.cache/keycloak');
const DISTRIBUTION = join(CACHE, `keycloak-${VERSION}`);
const UNPACK = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack';
const ARTIFACT = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
const run = promisify(execFile);
const START_MS_MAX = 600_000;
/** An invented password for a program that nobody else can reach. */
const ADMIN = { username: 'admin', password: 'the-password-of-a-test' };

// biome-ignore lint/suspicious/noExplicitAny: as in the REST driver, tests reach into bodies.
type Body = any;
export type Keycloak = {
  readonly url: string;
  /** Calls the administration API below /admin/realms. Throws if the call is refused. */
  readonly admin: (method: string, path: string, body?: object) => Promise<Body>;
  readonly stop: () => Promise<void>;
};

/** Downloads it once. Returns why it is unavailable, or undefined if it is present. */
export async function whyNoKeycloak(): Promise<string | undefined> {
  const java = await run('java', ['-version']).catch(() => undefined);
  if (java === undefined) return `no Java for Keycloak ${VERSION}`;
  if (existsSync(DISTRIBUTION)) return undefined;
  const draft = join(CACHE, `draft.${process.pid}`);
  const args = ['-B', '-ntp', UNPACK, `-Dartifact=${ARTIFACT}`, `-DoutputDirectory=${draft}`];
  // Maven writes a marker below the current folder, and would not unpack again beside it.
  mkdirSync(draft, { recursive: true });
  try {
    await run('mvn', args, { cwd: draft });
    renameSync(join(draft, `keycloak-${VERSION}`), DISTRIBUTION);
    return undefined;
  } catch (error) {
    return `no Keycloak ${VERSION}: ${error instanceof Error ? error.message : error}`;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Keycloak writes into its own folder, so each instance gets a copy. */
export async function startKeycloak(processes: ProcessFixture): Promise<Keycloak> {
  const home = mkdtempSync(join(tmpdir(), 'cardea-keycloak-'));
  processes.onEnd(() => rmSync(home, { recursive: true, force: true }));
  cpSync(DISTRIBUTION, home, { recursive: true });
  const [port, managementPort] = await freePorts(2);
  const running = await processes.start({
    name: 'keycloak',
    command: join(home, 'bin/kc.sh'),
    args: [
      ...['start-dev', '--db=dev-mem', '--http-host=127.0.0.1', `--http-port=${port}`],
      ...['--http-management-host=127.0.0.1', `--http-management-port=${managementPort}`],
    ],
    env: {
      KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username,
      KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
      JAVA_OPTS_KC_HEAP: '-Xms64m -Xmx512m',
    },
    ready: /started in [\d.]+s/,
    deadlineMs: START_MS_MAX,
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    admin: async (method, path, body) => {
      const answer = await fetch(`${url}/admin/realms${path}`, {
        method,
        headers: {
          authorization: `Bearer ${await administrator(url)}`,
          'content-type': 'application/json',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    },
    // Its shell forwards only SIGTERM to Java.
    stop: async () => {
      await running.end('SIGTERM');
    },
  };
}

async function administrator(url: string): Promise<string> {
  const form = { grant_type: 'password', client_id: 'admin-cli', ...ADMIN };
  const answer = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const { access_token } = (await answer.json()) as { access_token: string };
  return access_token;
}
