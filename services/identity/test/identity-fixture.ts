/** Runs identity alone on a real database, with a clock that tests set and a counter of password hashes. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accept, type RecordedEvent } from '@cardea/event-store';
import { identityWith } from '@cardea/identity';
import { type Clock, systemClock } from '@cardea/runtime';
import {
  type RestAnswer,
  type RestDriver,
  type ServiceFixture,
  serviceFixture,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll } from 'vitest';
import { argon2 } from '../src/adapters/argon2.ts';
import { type TenantSettingsChange, tenants } from '../src/workspaces/tenants/tenant.ts';

export const PASSWORD = 'correct horse battery';

/** Cheap parameters, because tests count hashes and do not time them. */
const COST = { memoryKib: 64, time: 1 };

export type MovableClock = Clock & { move(ms: number): void };

export function movableClock(): MovableClock {
  let offsetMs = 0;
  return {
    ...systemClock,
    now: () => new Date(Date.now() + offsetMs),
    move: (ms) => {
      offsetMs += ms;
    },
  };
}

export type Account = {
  readonly tenantId: string;
  readonly userId: string;
  readonly email: string;
  readonly access: string;
  readonly refresh: string;
};

export type IdentityFixture = ServiceFixture & {
  readonly clock: MovableClock;
  /** The number of hashes computed and verified so far. */
  readonly hashes: () => number;
  readonly lines: readonly string[];
  /** Creates an organization with its administrator. */
  signUp(name?: string): Promise<Account>;
  /** Registers a member of a tenant. */
  register(tenantId: string, name?: string): Promise<Account>;
  /** Registers a member and proves the address in the session of the registration. */
  registerVerified(tenantId: string, name?: string): Promise<Account>;
  logIn(account: Pick<Account, 'tenantId' | 'email'>, password?: string): Promise<RestAnswer>;
  /** Signs in again, for calls that require a recent sign-in. */
  signInAgain(account: Account): Promise<Account>;
  refresh(token: string): Promise<RestAnswer>;
  as(account: Pick<Account, 'access' | 'tenantId'>): RestDriver;
  /** Waits for the newest mail to an address. Notices of changes are included only on request. */
  mail(
    to: string,
    about?: RegExp,
  ): Promise<{ link: string; token: string; code: string; subject: string; text: string }>;
  /** As an administrator will, once there is an endpoint for it. */
  setTenant(tenantId: string, settings: TenantSettingsChange): Promise<void>;
  eventsSince(position: bigint): Promise<readonly RecordedEvent[]>;
  head(): Promise<bigint>;
};

const isNotice = (text: string): boolean => /Security notice|Sicherheitshinweis/.test(text);

export async function identityFixture(
  databaseUrl: string,
  env: { readonly [name: string]: string } = {},
  hold?: () => Promise<void>,
  drivers: Parameters<typeof identityWith>[0] = {},
): Promise<IdentityFixture> {
  const data = await mkdtemp(join(tmpdir(), 'cardea-identity-'));
  const clock = movableClock();
  const own = argon2(COST);
  let hashes = 0;
  const counted = {
    ...own,
    hash: async (password: string) => {
      hashes += 1;
      await hold?.();
      return own.hash(password);
    },
    verify: async (phc: string, password: string) => {
      hashes += 1;
      await hold?.();
      return own.verify(phc, password);
    },
  };
  const lines: string[] = [];
  const fixture = await serviceFixture({
    databaseUrl,
    definitions: [identityWith({ ...drivers, passwordFunction: counted })],
    clock,
    env: { CARDEA_DATA: data, PUBLIC_URL: 'http://cardea.test', ...env },
    onLog: (line) => lines.push(line),
  });
  const { rest } = fixture;
  const { store } = fixture.host.needsOf('identity');

  const newEmail = (name: string) => `${name}.${randomBytes(4).toString('hex')}@example.com`;
  const made = (answer: RestAnswer, tenantId: string, email: string): Account => {
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
    const { user_id: userId, access_token: access, refresh_token: refresh } = answer.body;
    return { tenantId, userId, email, access, refresh };
  };

  const whole: IdentityFixture = {
    ...fixture,
    clock,
    lines,
    hashes: () => hashes,
    signUp: async (name = 'ann') => {
      const email = newEmail(name);
      const answer = await rest.post('/api/v1/auth/signup', {
        email,
        password: PASSWORD,
        company_name: `Company of ${name}`,
      });
      return made(answer, answer.body?.tenant_id, email);
    },
    register: async (tenantId, name = 'bob') => {
      const email = newEmail(name);
      const body = { email, password: PASSWORD, display_name: name };
      return made(
        await rest.post('/api/v1/auth/register', body, { tenant: tenantId }),
        tenantId,
        email,
      );
    },
    registerVerified: async (tenantId, name) => {
      const account = await whole.register(tenantId, name);
      const { token } = await whole.mail(account.email, /Confirm/);
      const answer = await whole.as(account).post('/api/v1/auth/verify-email', { token });
      if (answer.status !== 200) throw new Error(answer.text);
      return account;
    },
    logIn: ({ tenantId, email }, password = PASSWORD) =>
      rest.post('/api/v1/auth/login', { email, password }, { tenant: tenantId }),
    signInAgain: async (account) => {
      const { tenantId: tenant, email } = account;
      const body = { email, password: PASSWORD };
      const answer = await rest.post('/api/v1/auth/login', body, { tenant });
      const { access_token: access, refresh_token: refresh } = answer.body;
      return { ...account, access, refresh };
    },
    refresh: (refresh_token) => rest.post('/api/v1/auth/refresh', { refresh_token }),
    as: ({ access, tenantId }) => rest.as({ bearer: access, tenant: tenantId }),
    mail: (to, about = /./) =>
      untilTrue(
        async () => {
          const { body } = await rest.get('/dev/mailbox', { query: { to } });
          const found = body.messages.find(
            ({ subject }: { subject: string }) =>
              about.test(subject) && isNotice(subject) === isNotice(about.source),
          );
          if (found === undefined) return undefined;
          return { ...found, token: String(found.link).split('#token=')[1] ?? '' };
        },
        { what: `mail to ${to}` },
      ),
    setTenant: async (id, settings) => {
      const { streams, systemCommand, ids } = fixture.host.needsOf('identity');
      await streams.decideOn(tenants, id, systemCommand(id, ids.next()), () =>
        accept({ type: 'TenantSettingsChanged', data: { id, settings } }),
      );
    },
    head: () => store.head('identity'),
    eventsSince: (position) => store.readLog('identity', position, 100_000),
    stop: async () => {
      await fixture.stop();
      await rm(data, { recursive: true, force: true });
    },
  };
  return whole;
}

/** What the tests of one file share. It is empty before they run. */
export type OfFile<Fixture> = { readonly fixture: Fixture; readonly admin: Account };

/** Starts a fixture for all tests of the file on a separate database, with the administrator of a tenant. */
export function ofFile<Fixture extends IdentityFixture>(
  start: (databaseUrl: string) => Promise<Fixture>,
): OfFile<Fixture> {
  const database = testDatabase();
  const [fixture, admin] = [{} as Fixture, {} as Account];
  let started: Fixture | undefined;
  beforeAll(async () => {
    started = Object.assign(fixture, await start(database.url));
    Object.assign(admin, await started.signUp());
  });
  afterAll(async () => {
    await started?.stop();
  });
  return { fixture, admin };
}

export const identityOfFile = (
  env: { readonly [name: string]: string } = {},
): OfFile<IdentityFixture> => ofFile((databaseUrl) => identityFixture(databaseUrl, env));

/** The claims of a token, unverified. */
export const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
