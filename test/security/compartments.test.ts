/** Tests that the secrets of one service neither decrypt nor create anything of another service. */
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import {
  type DeploymentSecrets,
  decrypt,
  deriveFrom,
  subjectKeyLocation,
  wrapKeys,
} from '@cardea/crypto';
import { secret } from '@cardea/runtime';
import { services } from '@cardea/standalone';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CHEAP,
  cardeaFixture,
  exampleOf,
  running,
  SECRETS,
} from '../../services/standalone/test/cardea-fixture.ts';
import { company } from '../faults/company.ts';

const ACCOUNT = { email: 'owner@example.com', password: 'a password for the tests' };
const COMPARTMENTS = { CARDEA_COMPARTMENTS: 'true' };

const database = testDatabase();
const { run, folder, remove } = cardeaFixture(() => database.url);
let fixture: ServiceFixture | undefined;
let tenant = '';

beforeAll(async () => {
  fixture = await running(database.url);
  const body = { company_name: 'Acme', ...ACCOUNT };
  tenant = (await fixture.rest.post('/api/v1/auth/signup', body)).body.tenant_id;
  await (await company(fixture.rest, tenant, ACCOUNT)).machine();
  await untilTrue(async () => (await keyRows('vault')).length > 0, { what: 'rows of the vault' });
  await fixture.stop();
  fixture = undefined;
}, 180_000);
afterAll(async () => {
  await fixture?.stop();
  remove();
});

type KeyRow = { subject_id: string; tenant_id: string; kek_id: string; wrapped: Buffer };
async function keyRows(service: ServiceName): Promise<readonly KeyRow[]> {
  const { rows } = (await fixture?.shared.database.system.query<KeyRow>(
    `SELECT subject_id, tenant_id, kek_id, wrapped FROM ${service}.subject_keys
     WHERE wrapped IS NOT NULL`,
  )) ?? { rows: [] };
  return rows;
}

const command = async (line: string, env: { [name: string]: string } = {}) => {
  const ran = await run(`${line} --data ${folder} --json`, env);
  return { code: ran.code, said: JSON.parse(ran.out.trim().split('\n').at(-1) ?? '{}') };
};

async function ownOf(service: string): Promise<{ readonly [name: string]: string }> {
  const { code, said } = await command(exampleOf('env derive', { service }));
  expect(code).toBe(0);
  return said.environment;
}

const secretsIn = (env: { readonly [name: string]: string }): DeploymentSecrets => ({
  JWT_SECRET: secret(env['JWT_SECRET'] ?? ''),
  JWT_SECRET_PREVIOUS: undefined,
  ENCRYPTION_KEY: secret(env['ENCRYPTION_KEY'] ?? ''),
  ENCRYPTION_KEY_PREVIOUS: undefined,
});

function opensAs(secrets: DeploymentSecrets, row: KeyRow): boolean {
  const { key } = wrapKeys(secrets, 'subject-wrap/v1').current;
  const { subject_id: subjectId, tenant_id: tenantId, kek_id: kekId } = row;
  try {
    return decrypt(key, row.wrapped, subjectKeyLocation({ subjectId, tenantId, kekId })).length > 0;
  } catch {
    return false;
  }
}

describe('S25 secrets of single services', () => {
  it('take the place of those of the deployment, in all that is stored', async () => {
    const moved = await command(exampleOf('keys rewrap', {}));
    expect(moved).toMatchObject({ code: 0, said: { ok: true } });
    expect(moved.said.signing_keys).toBeGreaterThan(0);
    const { said } = await command('keys status', COMPARTMENTS);
    expect(said.wrapped.length).toBeGreaterThan(2);
    expect(new Set(said.wrapped.map(({ key }: { key: string }) => key))).toEqual(
      new Set(['current']),
    );
    expect(said.keys.every((key: { sealed_under: string }) => key.sealed_under === 'current')).toBe(
      true,
    );
    expect((await command('keys rewrap')).code).toBe(78);
  });

  it('serve what was stored before', { timeout: 120_000 }, async () => {
    const { JWT_SECRET, ENCRYPTION_KEY } = SECRETS;
    const env = { JWT_SECRET, ENCRYPTION_KEY, ...CHEAP, ...COMPARTMENTS };
    fixture = await serviceFixture({ databaseUrl: database.url, definitions: services, env });
    const signedIn = await fixture.rest.post('/api/v1/auth/login', ACCOUNT, { tenant });
    expect(signedIn.status).toBe(200);
    const as = fixture.rest.as({ bearer: signedIn.body.access_token, tenant });
    expect((await as.get('/api/v1/user/profile')).body.email).toBe(ACCOUNT.email);
  });

  it('open the keys of their own service, and of no other', async () => {
    const own = new Map<ServiceName, DeploymentSecrets>();
    for (const name of SERVICE_NAMES) own.set(name, secretsIn(await ownOf(name)));
    const tried = { own: 0, others: 0 };
    for (const owner of SERVICE_NAMES) {
      const rows = await keyRows(owner);
      for (const [name, secrets] of own) {
        const found = rows.map((row) => opensAs(secrets, row));
        expect([...new Set([...found, name === owner])], `${name} at what is ${owner}'s`).toEqual([
          name === owner,
        ]);
        tried[name === owner ? 'own' : 'others'] += rows.length;
      }
    }
    expect(tried.own).toBeGreaterThan(2);
    expect(tried.others).toBe(5 * tried.own);
  });

  it('make no refresh token, code or signing key of identity, and name no root', async () => {
    const identity = deriveFrom(secretsIn(await ownOf('identity')));
    const dispatcher = await ownOf('webhook-dispatcher');
    expect(dispatcher).toEqual(await ownOf('webhooks'));
    for (const use of ['refresh/v1', 'otp/v1', 'jwk-kek/v1']) {
      const theirs = deriveFrom(secretsIn(dispatcher))('JWT_SECRET', use).current;
      expect(theirs.equals(identity('JWT_SECRET', use).current)).toBe(false);
    }
    for (const value of Object.values(dispatcher)) {
      expect([SECRETS.JWT_SECRET, SECRETS.ENCRYPTION_KEY]).not.toContain(value);
    }
    const again = await command('env derive --service vault', dispatcher);
    expect(again.code).toBe(78);
    expect((await command('env derive --service nobody')).code).toBe(2);
  });
});
