/** Requests to the endpoints of relationship tuples. */
import type { Fortress } from '../fortress.ts';
import type { Ask, Samples } from '../sample.ts';
import { expectStatus } from '../users.ts';

const SUBJECT = { user_type: 'user', user_id: 'alice', relation: 'viewer', object_type: 'doc' };
let made = 0;
const freshTuple = () => {
  made += 1;
  return { ...SUBJECT, object_id: `letter-${made}` };
};

async function standingTuple({ a, rest }: Fortress): Promise<Ask> {
  const body = freshTuple();
  const { tenantId: tenant, owner } = a;
  expectStatus(await rest.post('/api/v1/fga/tuples', body, { tenant, bearer: owner.access }), 201);
  return { body };
}

/** A model that allows the tuples of the other samples. */
const MODEL = {
  user: {},
  group: { relations: { member: { direct: ['user'] } } },
  doc: { relations: { viewer: { direct: ['user', 'group'] } } },
};

async function nextModel({ a, rest }: Fortress): Promise<Ask> {
  const by = { tenant: a.tenantId, bearer: a.owner.access };
  const { body } = await rest.get('/api/v1/fga/model', by);
  return { body: { expected_version: body.version, types: MODEL } };
}

export const authzSamples: Samples = {
  write_tuple: { by: 'admin', ask: () => ({ body: freshTuple() }) },
  delete_tuple: { by: 'admin', ask: standingTuple },
  change_tuples: { by: 'admin', ask: () => ({ body: { writes: [freshTuple()] } }) },
  fga_dry_run: { by: 'admin', ask: () => ({ body: { writes: [freshTuple()] } }) },
  show_model: { by: 'admin', ask: () => ({}) },
  publish_model: { by: 'admin', ask: nextModel },
  dry_run_model: { by: 'admin', ask: () => ({ body: { types: MODEL } }) },
  list_tuples: { by: 'member', ask: () => ({ query: { object_type: 'doc' } }) },
  fga_check: { by: 'member', ask: standingTuple },
  fga_filter: {
    by: 'member',
    ask: () => ({ body: { ...SUBJECT, object_ids: ['letter-1', 'letter-2'] } }),
  },
  fga_check_batch: { by: 'member', ask: () => ({ body: { checks: [freshTuple()] } }) },
  fga_list_objects: { by: 'member', ask: () => ({ body: SUBJECT }) },
  fga_list_users: {
    by: 'member',
    ask: () => {
      const { user_id: _, ...asked } = freshTuple();
      return { body: asked };
    },
  },
};
