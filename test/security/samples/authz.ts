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

export const authzSamples: Samples = {
  write_tuple: { by: 'admin', ask: () => ({ body: freshTuple() }) },
  delete_tuple: { by: 'admin', ask: standingTuple },
  change_tuples: { by: 'admin', ask: () => ({ body: { writes: [freshTuple()] } }) },
  fga_dry_run: { by: 'admin', ask: () => ({ body: { writes: [freshTuple()] } }) },
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
