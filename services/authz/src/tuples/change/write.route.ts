import { endpoint } from '@cardea/http';
import type { Ids } from '@cardea/runtime';
import { tupleKey } from '../../adapters/tuple-key.ts';
import { WRITES } from '../../http/endpoint-defaults.ts';
import { tupleShape, writableShape } from '../../http/tuple-shape.ts';
import { recordRepeat, settle } from '../../http/writing.ts';
import { faultOf } from '../../models/current-models.ts';
import { fieldsOf, isWildcardParent } from '../../relations/relation.ts';
import { tuples } from '../tuple.ts';
import type { ChangeDependencies } from './change-dependencies.ts';
import { write } from './write.ts';

export const writeTuple = (needs: ChangeDependencies & { readonly ids: Ids }) =>
  endpoint(
    {
      ...WRITES,
      name: 'write_tuple',
      repeat: 'safe',
      summary: 'Write a relationship tuple; one that stands is answered as it is',
      description:
        'Writes one relationship tuple. A tuple that exists is answered with the id and time that it has. Checks that begin after the answer see it on every replica if they send its `X-Service-Consistency`.',
      method: 'post',
      path: '/api/v1/fga/tuples',
      body: writableShape,
      ok: tupleShape,
      response: { status: 201 },
      refusals: { invalid_request: 400 },
      consistency: { waitsFor: ['tuples'] },
    },
    async (request) => {
      const { tenantId } = request;
      const fields = fieldsOf(request.body);
      if (isWildcardParent(fields)) {
        return { refused: 'invalid_request', details: [{ field: 'user_id', rule: 'wildcard' }] };
      }
      const rule = faultOf(await needs.models.of(tenantId), fields);
      if (rule !== undefined) {
        return { refused: 'invalid_request', details: [{ field: 'relation', rule }] };
      }
      const command = await needs.command(request);
      const id = needs.ids.next();
      const decided = await needs.streams.decideOn(tuples, tupleKey(tenantId, fields), command, {
        isNew: true,
        decide: (tuple) => write({ id, fields, now: command.now }, tuple),
      });
      const tuple = decided.state;
      if (tuple.status === 'absent') throw new Error('a written tuple does not stand');
      const position =
        decided.position ??
        (await recordRepeat(needs, command, {
          type: 'TupleWriteRepeated',
          data: { tuple_id: tuple.id, ...fields },
        }));
      await settle(needs, tenantId, position);
      return {
        ok: { id: tuple.id, tenant_id: tenantId, ...fields, created_at: tuple.createdAt },
        wrote: position,
      };
    },
  );
