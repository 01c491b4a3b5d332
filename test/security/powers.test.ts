/** Tests what changes of settings require besides a role, at every endpoint of every service. */
import { applicationScopeOf, type Contract, isInternal } from '@cardea/http';
import { type RestAnswer, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  application,
  authorized,
  type OAuthParty,
} from '../../services/identity/test/oauth-fixture.ts';
import { type Class, classes } from './classes.ts';
import { type Fortress, fortress } from './fortress.ts';
import { send, titleOf } from './sample.ts';
import { expectStatus, PASSWORD, type Person } from './users.ts';

/** The age of a sign-in at which a step-up is required. Tokens live longer. */
const STEP_UP_MS = 600_000;
const USERS = ['user', 'admin', 'owner', 'system_admin'];

const database = testDatabase();
let world: Fortress;
let root: Person;
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
  if (world.systemAdmin === undefined) throw new Error('nobody here has every role');
  root = world.systemAdmin;
});
afterAll(async () => {
  await world?.stop();
});

const takesUsers = (contract: Contract) =>
  contract.who !== 'anyone' &&
  !isInternal(contract) &&
  contract.who.some((caller) => USERS.includes(caller));
const endpoints = () => world.host.endpoints.filter(({ contract }) => takesUsers(contract));
const classOf = (contract: Contract): Class =>
  contract.access?.class === 'settings'
    ? `settings ${contract.access.stepUp}`
    : `things ${applicationScopeOf(contract)}`;

/**
 * Collects the refusals. No request has an effect, because one that passes the pipeline's checks has an unknown id or a
 * body that is no object.
 */
async function refusals(
  bearer: string,
  expected: (contract: Contract) => boolean,
  isRefused: (answer: RestAnswer) => boolean,
): Promise<readonly string[]> {
  const surprises: string[] = [];
  for (const endpoint of endpoints()) {
    const { contract } = endpoint;
    const names = [...contract.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const params = Object.fromEntries(names.map((name) => [name, 'nobody']));
    const body = contract.method === 'get' ? {} : { body: 'nothing' as unknown as object };
    const as = { credentials: { bearer } };
    const tenant = world.a.tenantId;
    const answer = await send(world, endpoint, { params, ...body }, { as, tenant });
    if (isRefused(answer) === expected(contract)) continue;
    surprises.push(`${titleOf(endpoint)}: ${answer.status} ${answer.code}`);
  }
  return surprises;
}

async function applicationToken(scopes: readonly string[]): Promise<string> {
  const { rest, a } = world;
  const { access, tenantId } = a.owner;
  const party: OAuthParty = {
    baseUrl: world.baseUrl,
    issuer: world.issuer,
    as: () => rest.as({ bearer: access, tenant: tenantId }),
  };
  const isOurs = scopes.includes('account');
  const client = await application(party, a.owner, { scopes, first_party: isOurs });
  const more = { scope: scopes.join(' ') };
  const of = { client, account: root, more, password: PASSWORD };
  return String((await authorized(party, of)).access_token);
}

const needsStepUp = ({ status, code, headers }: RestAnswer) =>
  status === 401 &&
  code === 'step_up_required' &&
  (headers.get('www-authenticate') ?? '').includes('insufficient_user_authentication');

describe('P2 a call', () => {
  it('P2 is of the class that the documents give it', () => {
    const contracts = endpoints().map(({ contract }) => {
      const title = titleOf({ contract }).replace('/api/v1', '');
      return { title, class: classOf(contract) };
    });
    const documented = contracts.map(({ title }) => ({
      title,
      class: classes.find(([form]) => form.test(title))?.[1],
    }));
    expect(contracts).toEqual(documented);
  });

  it('P2 that changes settings is refused to an application with the scope roles', async () => {
    const bearer = await applicationToken(['openid', 'roles']);
    const surprises = await refusals(
      bearer,
      (contract) => applicationScopeOf(contract) === 'account',
      ({ status, body }) => status === 403 && body?.error?.details?.scope === 'account',
    );
    expect(surprises).toEqual([]);
  });

  it('P2 P9 that changes settings is refused to an administrator who impersonates a user', async () => {
    const { rest, a } = world;
    const path = `/api/v1/admin/users/${a.member.userId}/impersonate`;
    const by = { bearer: a.owner.access, tenant: a.tenantId };
    const made = await rest.post(path, { reason: 'to see what they see' }, by);
    expectStatus(made, 201);
    const surprises = await refusals(
      made.body.access_token,
      ({ access: of, who }) => of?.class === 'settings' || !who.includes('user'),
      ({ status, code }) => status === 403 && code === 'forbidden',
    );
    expect(surprises).toEqual([]);
  });

  it('P2 that changes settings asks for a recent sign-in, of people and of applications', async () => {
    const again = await world.logIn(root);
    const ofApplication = await applicationToken(['openid', 'roles', 'account']);
    const nobody = () => false;
    for (const bearer of [again.access, ofApplication]) {
      expect(await refusals(bearer, nobody, needsStepUp)).toEqual([]);
    }
    world.clock.shift(STEP_UP_MS);
    const ofUsers = ({ access }: Contract) => access?.stepUp === 'users';
    expect(await refusals(again.access, ofUsers, needsStepUp)).toEqual([]);
    const ofBoth = ({ access }: Contract) => (access?.stepUp ?? 'none') !== 'none';
    expect(await refusals(ofApplication, ofBoth, needsStepUp)).toEqual([]);
    world.clock.shift(0);
  });
});
