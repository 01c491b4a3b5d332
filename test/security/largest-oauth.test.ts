/**
 * C6 for the endpoints that the authorization server's library answers. It accepts any field at any length, so no
 * schema shows the largest request. Each endpoint gets its largest forms, whole flows run with the largest values that
 * succeed, and the audit log has every row of them.
 */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Endpoint } from '@cardea/http';
import { testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deviceApplication, requestDevice } from '../../services/identity/test/device-fixture.ts';
import { PASSWORD } from '../../services/identity/test/identity-fixture.ts';
import {
  application,
  authorized,
  authorizeUrl,
  browser,
  type OAuthParty,
  pkce,
  REDIRECT,
  type TestClient,
  token,
} from '../../services/identity/test/oauth-fixture.ts';
import {
  exchangingAgent,
  postTokenExchange,
  scopeOf,
  tokenExchangeForm,
} from '../../services/identity/test/token-exchange-fixture.ts';
import { type Fortress, fortress } from './fortress.ts';
import { parkedStreams } from './parked-streams.ts';
import { expectStatus, type Person } from './users.ts';

const database = testDatabase();
const RESOURCE = `https://${'o'.repeat(60)}.example.com/${'r'.repeat(430)}`;
/** Scopes of 64 characters, 50 in all, that cannot be compressed. They do not fit into one row beside a resource. */
const SCOPES = Array.from({ length: 48 }, (_, number) =>
  `s${number}:${'abcdefghijklmnopqrstuvwxyz0123456789'.repeat(2)}`.slice(0, 64),
);
/**
 * The longest names that services and fields may have, and as many services as an agent may be granted in one request.
 */
const SERVICES = Array.from({ length: 50 }, (_, service) => ({
  service_name: `s${service}`.padEnd(63, 'abcdefghijklmnopqrstuvwxyz'),
  fields: Array.from({ length: 70 }, (_each, field) =>
    `f${field}_`.padEnd(64, 'zyxwvutsrqponmlkjihgfedcba'),
  ),
}));
const DETAILS_BYTES_MAX = 8 * 1024;
/** The maximum size of all names and values of an authorization request together. */
const PARAMETERS_BYTES_MAX = 8 * 1024;
/** Lengths of a client id that is an address, from more than a request may have down to what an index accepts. */
const ID_CHARACTERS = [7_000, 4_096, 3_000, 2_048, 1_024, 512];
/** Sizes of single fields and headers of unauthenticated clients. The last one is larger than what the server reads. */
const SIZES = [1_024, 8_000, 30_000, 80_000];
const USER_AGENT = `Mozilla/5.0 ${'\u00e9'.repeat(20_000)}`;
const TEST_MS_MAX = 5 * 60_000;

let documents: Server;
let world: Fortress;
let party: OAuthParty;
let somebody: Person;
/** A text without repetitions, so that it cannot be compressed. */
const noise = (length: number): string => {
  let text = '';
  for (let at = 0; text.length < length; at++) text += ((at * 2_654_435_761) >>> 0).toString(36);
  return text.slice(0, length);
};

beforeAll(async () => {
  documents = createServer((request, response) => {
    const id = `https://${request.headers.host}${request.url}`;
    response.end(JSON.stringify({ client_id: id, redirect_uris: [REDIRECT] }));
  });
  await new Promise<void>((resolve) => documents.listen(0, '127.0.0.1', resolve));
  const { port } = documents.address() as AddressInfo;
  const documentNetwork = {
    resolver: async () => ['93.184.215.14'],
    dialer: () =>
      new Promise<ReturnType<typeof connect>>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => resolve(socket));
        Object.defineProperty(socket, 'remoteAddress', { value: '93.184.215.14' });
        socket.on('error', reject);
      }),
  };
  world = await fortress({
    databaseUrl: database.url,
    env: { RATE_LIMIT_FACTOR: '1000' },
    documentNetwork,
  });
  const { a, baseUrl, issuer, rest } = world;
  party = {
    baseUrl,
    issuer,
    as: ({ access, tenantId }) => rest.as({ bearer: access, tenant: tenantId }),
  };
  const email = world.newEmail();
  const user = { email, password: PASSWORD, roles: ['member'], email_verified: true };
  expectStatus(await party.as(a.owner).post('/api/v1/admin/users', user), 201);
  somebody = { ...a.member, email };
  const scopes = SCOPES.map((name) => ({ name, description: 'd' }));
  const resource = { identifier: RESOURCE, name: 'Orders', scopes };
  expectStatus(await party.as(a.owner).post('/api/v1/admin/resource-servers', resource), 201);
}, TEST_MS_MAX);
afterAll(async () => {
  documents?.close();
  documents?.closeAllConnections();
  await world?.stop();
});

type Row = {
  readonly type: string;
  readonly target_id: string | null;
  readonly bytes: number;
  readonly details: { readonly [name: string]: unknown };
};

async function rowsAbout(target: string): Promise<readonly Row[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    const { rows } = await client.query<Row>(
      `SELECT type, target_id, octet_length(details::text) AS bytes, details FROM audit.events
       WHERE target_id = $1`,
      [target],
    );
    return rows;
  } finally {
    await client.end();
  }
}

/** Waits until the log has a row of each type about the target. Returns all rows about it. */
const rowsOf = (target: string, types: readonly string[]): Promise<readonly Row[]> =>
  untilTrue(
    async () => {
      const rows = await rowsAbout(target);
      const found = new Set(rows.map(({ type }) => type));
      return types.every((type) => found.has(type)) ? rows : undefined;
    },
    { what: `the audit log has ${types.join(', ')}` },
  );

async function expectNothingParked(): Promise<void> {
  expect(await parkedStreams(database.url)).toEqual([]);
}

const passedOn = (): readonly Endpoint[] =>
  world.host.endpoints.filter(({ contract }) => contract.input?.passedOn === true);

const namesOf = (schema: unknown): readonly string[] =>
  Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});

/** Each field of the endpoint, and an unknown one, in each size. */
const largerBy = (endpoint: Endpoint) =>
  [
    ...namesOf(endpoint.contract.query),
    ...namesOf(endpoint.contract.body),
    'unknown_field',
  ].flatMap((name) => SIZES.map((size) => ({ endpoint, name, size })));

/** A request that is valid except for the field that is enlarged. */
function baseOf(name: string, client: TestClient): { readonly [field: string]: string } {
  const { client_id } = client;
  const authorization = {
    ...{ client_id, response_type: 'code', redirect_uri: REDIRECT, scope: 'openid' },
    ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256', state: 's' },
  };
  switch (name) {
    case 'authorize':
    case 'push_authorization_request':
      return authorization;
    case 'issue_tokens':
      return { grant_type: 'refresh_token', refresh_token: 'none', client_id };
    case 'revoke_token':
      return { token: 'none', client_id };
    case 'authorize_device':
      return { client_id, scope: 'openid' };
    default:
      return {};
  }
}

async function ask({ contract }: Endpoint, fields: { readonly [name: string]: string }) {
  const path = contract.path.replace('{uid}', 'u'.repeat(128));
  const form = new URLSearchParams(fields);
  const url = `${party.baseUrl}${path}`;
  const headers = { 'user-agent': USER_AGENT };
  try {
    const answer =
      contract.method === 'post'
        ? await fetch(url, { method: 'POST', body: form, headers, redirect: 'manual' })
        : await fetch(`${url}?${form}`, { headers, redirect: 'manual' });
    await answer.text();
    return answer.status;
  } catch (error) {
    // A server that stops reading closes the connection.
    return (error as Error).message === 'fetch failed' ? 0 : 599;
  }
}

describe('C6 the endpoints that the authorization server answers', () => {
  it(
    'C6 answer each field and the user agent at any length, and park nothing',
    async () => {
      const client = await application(party, world.a.owner);
      const faults: string[] = [];
      const statuses = new Set<number>();
      for (const { endpoint, name, size } of passedOn().flatMap(largerBy)) {
        const base = baseOf(endpoint.contract.name, client);
        const status = await ask(endpoint, { ...base, [name]: noise(size) });
        statuses.add(status);
        if (status >= 500) faults.push(`${endpoint.contract.name} ${name} ${size}: ${status}`);
      }
      expect(faults).toEqual([]);
      // Some of the requests were accepted, some refused.
      expect([...statuses]).toEqual(expect.arrayContaining([303, 400]));
      const rows = await rowsOf(client.id, ['admin.application.create']);
      for (const { type, bytes } of rows) expect(bytes, type).toBeLessThan(DETAILS_BYTES_MAX);
      await expectNothingParked();
    },
    TEST_MS_MAX,
  );

  it('C6 give the rows of a flow whose every parameter is as large as it may be', async () => {
    const redirect = `${REDIRECT}?${'q'.repeat(1_000)}`;
    const scope = ['openid', ...SCOPES].join(' ');
    const client = await application(party, world.a.owner, {
      ...{ type: 'web', scopes: ['openid', 'offline_access', ...SCOPES] },
      redirect_uris: [REDIRECT, redirect],
      grant_types: ['authorization_code', 'refresh_token'],
    });
    const more = { scope, resource: RESOURCE, nonce: noise(500) };
    const used = new URL(
      authorizeUrl(client, { ...more, code_challenge: pkce().challenge }),
      redirect,
    ).searchParams;
    used.delete('state');
    const bytes = [...used].reduce(
      (sum, [name, value]) => sum + Buffer.byteLength(name + value),
      0,
    );
    const ROOM_FOR_NAME = 'state'.length;
    const state = noise(PARAMETERS_BYTES_MAX - bytes - ROOM_FOR_NAME - 200);
    const done = await authorized(party, { client, account: somebody, more: { ...more, state } });
    expect(done.back.searchParams.get('state')).toBe(state);
    const { client_id, client_secret = '' } = client;
    const secret = { client_id, client_secret };
    const refreshed = await token(party, {
      ...{ grant_type: 'refresh_token', refresh_token: done.refresh_token, resource: RESOURCE },
      ...{ scope: SCOPES.join(' '), ...secret },
    });
    expect(refreshed, JSON.stringify(refreshed.body)).toMatchObject({ status: 200 });
    const wrong = { ...secret, client_secret: noise(30_000) };
    const refused = await token(party, { grant_type: 'client_credentials', ...wrong });
    expect(refused.status).toBe(401);
    const types = ['consent.granted', 'oauth.authorized', 'oauth.client_auth_failed'];
    const rows = await rowsOf(client_id, types);
    for (const { type, bytes: size } of rows) expect(size, type).toBeLessThan(DETAILS_BYTES_MAX);
    const granted = rows.find(({ type }) => type === 'consent.granted');
    expect(granted?.details['scopes']).toEqual(expect.arrayContaining(SCOPES));
    await expectNothingParked();
  });

  it('C6 give the rows of a device whose scopes are as many as they may be', async () => {
    const client = await deviceApplication(party, world.a.owner as never, {
      scopes: ['openid', ...SCOPES],
    });
    const asked = await requestDevice(party, client, ['openid', ...SCOPES].join(' '));
    expect(asked.user_code).toMatch(/-/);
    await rowsOf(client.id, ['admin.application.create']);
    await expectNothingParked();
  });

  it('C6 give the rows of an exchange for as many services and fields as an agent may have', async () => {
    const { owner, tenantId, member } = world.a;
    const agent = await exchangingAgent(party, { ...owner, tenantId }, { services: SERVICES });
    const form = tokenExchangeForm(member.access, scopeOf(SERVICES));
    const more = { audience: `${party.issuer}/api`, unknown_field: noise(20_000) };
    const exchanged = await postTokenExchange(party, agent, { ...form, ...more });
    expect(exchanged, JSON.stringify(exchanged.body)).toMatchObject({ status: 200 });
    expect(exchanged.body.scope.split(' ')).toHaveLength(SERVICES.length);
    const [row] = await rowsOf(exchanged.body.agent_session_id, ['agent.session_started']);
    expect(row?.bytes).toBeLessThan(DETAILS_BYTES_MAX);
    expect(row?.details['omitted']).toBeGreaterThan(0);
    await rowsOf(agent.id, ['agent.created']);
    await expectNothingParked();
  });

  it(
    'C6 give the rows of a client whose id is as long an address as any that is taken',
    async () => {
      const taken: number[] = [];
      const start = 'https://client.example/';
      for (const characters of ID_CHARACTERS) {
        const id = `${start}${noise(characters - start.length)}`;
        const client = { id, client_id: id };
        const more = { scope: SCOPES[0] as string, resource: RESOURCE };
        const challenge = { code_challenge: pkce().challenge };
        const first = await browser(party).get(authorizeUrl(client, { ...more, ...challenge }));
        if (first.status === 400) continue;
        expect(first, first.text).toMatchObject({ status: 303 });
        await authorized(party, { client, account: somebody, more });
        taken.push(characters);
        await rowsOf(id, ['consent.granted', 'oauth.authorized']);
        await expectNothingParked();
      }
      console.info(`ids of clients that are taken: ${taken.join(', ')}`);
      expect(taken.length).toBeGreaterThan(0);
      expect(taken.length).toBeLessThan(ID_CHARACTERS.length);
    },
    TEST_MS_MAX,
  );
});
