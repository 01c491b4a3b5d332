/**
 * The whole product on one database with two tenants, and all kinds of callers, over which the matrices loop. All of it
 * is created over HTTP, as its users would.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accept } from '@cardea/event-store';
import { type Clock, systemClock } from '@cardea/runtime';
import { services } from '@cardea/standalone';
import {
  type RestDriver,
  type ServiceFixture,
  serviceFixture,
  untilTrue,
  type WebhookSink,
  webhookSink,
} from '@cardea/testing';
import { users as userStreams } from '../../services/identity/src/accounts/users/user.ts';
import { type IdentityDrivers, identityWith } from '../../services/identity/src/service.ts';
import { type AgentsAndKeys, agentsAndKeysOf } from './agents-and-keys.ts';
import { claimsOf, expectStatus, type Person, type Users, usersOf } from './users.ts';

/** Longer ago than any access token's lifetime. */
const LONG_AGO_MS = -2 * 60 * 60 * 1000;
const ISSUER = 'https://cardea.test';

/** One tenant, with a user of each role. */
export type House = {
  readonly tenantId: string;
  readonly publishableKey: string;
  readonly owner: Person;
  readonly admin: Person;
  readonly member: Person;
  readonly agentsAndKeys: AgentsAndKeys;
};

export type Fortress = ServiceFixture &
  Users & {
    readonly a: House;
    readonly b: House;
    /**
     * An administrator of A. Undefined in a world that is created over HTTP only, because no request gives that role.
     */
    readonly systemAdmin: Person | undefined;
    /** A token of an administrator of A, signed long ago. */
    readonly expired: string;
    /**
     * A token of an application of A in its own name, with neither role nor scope. Undefined in a world that is created
     * over HTTP only.
     */
    readonly machine: string | undefined;
    /** A member of A whose session was revoked since. */
    readonly revoked: Person;
    readonly issuer: string;
    /** Moves the product's time, in milliseconds from now. */
    readonly clock: { shift(ms: number): void };
    readonly lines: readonly string[];
    readonly mailFolder: string;
    /** Receiver of webhooks. */
    readonly receiver: WebhookSink;
    /**
     * Gives the users of these tenants, by default of both, new tokens, because changes of settings require a recent
     * sign-in.
     */
    signInAgain(...houses: readonly House[]): Promise<void>;
  };

type Options = {
  readonly databaseUrl: string;
  readonly env?: { readonly [name: string]: string };
  /** The owner of A, if it was created at the start. Otherwise somebody signs up. */
  readonly founder?: Pick<Person, 'tenantId' | 'email'>;
  /** Replaces the network over which identity fetches documents of clients. */
  readonly documentNetwork?: IdentityDrivers['documentNetwork'];
};

export async function fortress({
  databaseUrl,
  env = {},
  documentNetwork,
  ...options
}: Options): Promise<Fortress> {
  const mailFolder = await mkdtemp(join(tmpdir(), 'cardea-security-'));
  const receiver = await webhookSink();
  const lines: string[] = [];
  const clock = shiftedClock();
  const fixture = await serviceFixture({
    databaseUrl,
    definitions: services.map((service) =>
      service.name === 'identity' && documentNetwork !== undefined
        ? identityWith({ documentNetwork })
        : service,
    ),
    clock,
    env: {
      ARGON2_MEMORY: '8',
      ARGON2_TIME: '1',
      PUBLIC_URL: ISSUER,
      CARDEA_DATA: mailFolder,
      VAULT_REVEAL: 'on',
      ...env,
    },
    onLog: (line) => lines.push(line),
  });
  const users = usersOf(fixture.rest);
  clock.shift(LONG_AGO_MS);
  const founder = await (options.founder === undefined
    ? users.signUp('Acme')
    : users.logIn(options.founder));
  const expired = founder.access;
  clock.shift(0);
  const a = await houseOf(fixture, users, await users.logIn(founder));
  const b = await houseOf(fixture, users, await users.signUp('Bolt'));
  const revoked = await users.logIn(a.member);
  await endSession(fixture.rest, revoked);
  return {
    ...fixture,
    a,
    b,
    systemAdmin: await systemAdminOf(fixture, users, a),
    machine: await machineTokenOf(fixture, a.owner),
    expired,
    revoked,
    issuer: ISSUER,
    clock,
    lines,
    mailFolder,
    receiver,
    ...users,
    async signInAgain(...houses) {
      for (const { owner, admin, member } of houses.length === 0 ? [a, b] : houses) {
        for (const person of [owner, admin, member]) {
          Object.assign(person, await users.logIn(person));
        }
      }
    },
    async stop() {
      await fixture.stop();
      await receiver.close();
      await rm(mailFolder, { recursive: true, force: true });
    },
  };
}

function shiftedClock(): Clock & { shift(ms: number): void } {
  let shiftMs = 0;
  return {
    ...systemClock,
    now: () => new Date(Date.now() + shiftMs),
    shift: (ms) => {
      shiftMs = ms;
    },
  };
}

/** Gives the role in the same way as to the first administrator of a deployment, which is not a request. */
async function systemAdminOf(
  { host }: Pick<ServiceFixture, 'host'>,
  users: Users,
  { owner }: House,
): Promise<Person> {
  const made = await users.addUser(owner, ['admin']);
  const { streams, systemCommand, clock } = host.needsOf('identity');
  const roles = ['system_admin', 'owner', 'admin'];
  const data = { id: made.userId, roles, at: clock.now().toISOString() };
  const command = systemCommand(made.tenantId, 'system admin', made.userId);
  await streams.decideOn(userStreams, made.userId, command, () =>
    accept({ type: 'RolesChanged', data }),
  );
  return users.logIn(made);
}

/** Created over HTTP alone, so that it can be used in any instance. */
export async function houseOf(
  fixture: Pick<ServiceFixture, 'rest'>,
  users: Users,
  owner: Person,
): Promise<House> {
  const { tenantId } = owner;
  const rest = fixture.rest.as({ bearer: owner.access, tenant: tenantId });
  // A sign-up waits 2 s at most for the tables, which a busy machine may exceed.
  const application = await untilTrue(async () => {
    const { body } = await rest.get('/api/v1/admin/applications');
    return body.applications?.[0];
  });
  const member = await users.addUser(owner, ['member']);
  const house = {
    tenantId,
    publishableKey: application.publishable_key,
    owner,
    admin: await users.addUser(owner, ['admin']),
    member,
    // The agent acts for a user whom no sample touches, because setting a password ends their session.
    agentsAndKeys: await agentsAndKeysOf(fixture.rest, {
      owner,
      member: await users.addUser(owner, ['member']),
    }),
  };
  await untilHeard(rest, house);
  return house;
}

/** Waits until approval has received the users and agents of identity over a topic. */
async function untilHeard(rest: RestDriver, { member, agentsAndKeys }: House): Promise<void> {
  const body = { agent_id: agentsAndKeys.agent.id, user_id: member.userId, action: 'write_data' };
  await untilTrue(
    async () => {
      expectStatus(await rest.post('/api/v1/ciba/requests', body), 201);
      return true;
    },
    { what: 'approval has heard of person and agent' },
  );
}

async function machineTokenOf(
  { rest, baseUrl }: Pick<ServiceFixture, 'rest' | 'baseUrl'>,
  { access, tenantId }: Person,
): Promise<string> {
  const fields = { name: 'CI', type: 'm2m' };
  const by = { bearer: access, tenant: tenantId };
  const made = await rest.post('/api/v1/admin/applications', fields, by);
  expectStatus(made, 201);
  const { client_id, client_secret } = made.body;
  const form = { grant_type: 'client_credentials', client_id, client_secret };
  const body = new URLSearchParams(form);
  const answer = await fetch(`${baseUrl}/oauth2/token`, { method: 'POST', body });
  const { access_token: token } = (await answer.json()) as { readonly access_token?: string };
  if (token === undefined) throw new Error(`no token for a machine: ${answer.status}`);
  return token;
}

async function endSession(rest: RestDriver, person: Person): Promise<void> {
  const { sid } = claimsOf(person.access) as { sid: string };
  const answer = await rest.delete(`/api/v1/me/sessions/${sid}`, { bearer: person.access });
  expectStatus(answer, 200);
}
