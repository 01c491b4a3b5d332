/** A released name is available at once, or is refused with the time at which it will be. */
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Account, identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });
const owner = () => fixture.as(admin);
const told = ({ status, code }: { status: number; code?: string | undefined }) =>
  `${status} ${code ?? ''}`.trim();

type Names = {
  readonly what: string;
  readonly path: string;
  readonly list: string;
  readonly body: (name: string) => object;
  readonly taken: string;
};
const NAMES: readonly Names[] = [
  {
    what: 'an address',
    path: '/api/v1/admin/users',
    list: 'users',
    body: (name) => ({ email: `${name}@example.com`, password: PASSWORD }),
    taken: '409 email_already_exists',
  },
  {
    what: 'the name of an agent',
    path: '/api/v1/agents',
    list: 'agents',
    body: (name) => ({ name }),
    taken: '409 agent_exists',
  },
  {
    what: 'the identifier of a resource server',
    path: '/api/v1/admin/resource-servers',
    list: 'resource_servers',
    body: (name) => ({ identifier: `https://${name}.example.com`, name }),
    taken: '409 identifier_taken',
  },
];

describe.each(NAMES)('$what [identity-27]', ({ path, list, body, taken }) => {
  const idsListed = async (): Promise<readonly string[]> => {
    const { body: listed } = await owner().get(path, { query: { limit: '1000' } });
    return listed[list].map(({ id }: { id: string }) => id);
  };

  it('is taken until its holder is deleted, and then free at once and in no list', async () => {
    const name = `n${Math.random().toString(36).slice(2)}`;
    const first = await owner().post(path, body(name));
    expect(first.status).toBe(201);
    expect(told(await owner().post(path, body(name)))).toBe(taken);
    await untilTrue(async () => (await idsListed()).includes(first.body.id));
    expect((await owner().delete(`${path}/${first.body.id}`)).status).toBe(200);
    const second = await owner().post(path, body(name));
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    await untilTrue(async () => (await idsListed()).includes(second.body.id));
    expect(await idsListed()).not.toContain(first.body.id);
  });
});

describe('the slug of a tenant [identity-27]', () => {
  const TENANTS = '/api/v1/admin/tenants';
  const create = (of: Pick<Account, 'access' | 'tenantId'>, slug: string) =>
    fixture.as(of).post(TENANTS, { name: 'Heir', slug });

  it('is refused with the time at which it is free, to its own organization alone', async () => {
    const slug = `s${Math.random().toString(36).slice(2)}`;
    const first = await create(admin, slug);
    expect(first.body.slug).toBe(slug);
    const alive = await create(admin, slug);
    expect([told(alive), alive.body.error.details]).toEqual(['409 slug_taken', undefined]);
    const closed = await owner().delete(`${TENANTS}/${first.body.id}`);
    expect(closed.status).toBe(202);
    const refused = await create(admin, slug);
    expect(told(refused)).toBe('409 slug_taken');
    const freeAt = new Date(refused.body.error.details.free_at);
    expect(freeAt.getTime()).toBeGreaterThan(fixture.clock.now().getTime());
    const foreign = await create(await fixture.signUp(), slug);
    expect([told(foreign), foreign.body.error.details]).toEqual(['409 slug_taken', undefined]);
    const listed = (await owner().get(TENANTS)).body.tenants.map(({ id }: { id: string }) => id);
    expect(listed).not.toContain(first.body.id);
    // A slug that was not chosen gets random suffixes until one is free.
    const other = await fixture.as(admin).post(TENANTS, { name: slug });
    expect([other.status, other.body.slug]).toEqual([201, expect.stringMatching(`^${slug}-`)]);
  });
});
