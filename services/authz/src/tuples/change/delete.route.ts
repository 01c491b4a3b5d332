import { endpoint } from '@cardea/http';
import Type from 'typebox';
import { tupleKey } from '../../adapters/tuple-key.ts';
import { WRITES } from '../../http/endpoint-defaults.ts';
import { writableShape } from '../../http/tuple-shape.ts';
import { recordRepeat, settle } from '../../http/writing.ts';
import { deletionFaultOf } from '../../models/current-models.ts';
import { fieldsOf, isWildcardParent } from '../../relations/relation.ts';
import { tuples } from '../tuple.ts';
import type { ChangeDependencies } from './change-dependencies.ts';
import { deleteTuple } from './delete.ts';

export const deleteTupleRoute = (needs: ChangeDependencies) =>
  endpoint(
    {
      ...WRITES,
      name: 'delete_tuple',
      repeat: 'safe',
      summary: 'Delete exactly this relationship tuple; one that is not there is deleted too',
      description:
        'Deletes exactly the named tuple; nothing is implied, and `*` is literal. Deleting a tuple that does not exist is answered in the same way.',
      method: 'delete',
      path: '/api/v1/fga/tuples',
      body: writableShape,
      ok: Type.Object({ status: Type.Literal('deleted') }),
      refusals: { invalid_request: 400 },
      consistency: { waitsFor: ['tuples'] },
    },
    async (request) => {
      const { tenantId } = request;
      const fields = fieldsOf(request.body);
      if (isWildcardParent(fields)) {
        return { refused: 'invalid_request', details: [{ field: 'user_id', rule: 'wildcard' }] };
      }
      const rule = deletionFaultOf(await needs.models.of(tenantId), fields);
      if (rule !== undefined) {
        return { refused: 'invalid_request', details: [{ field: 'relation', rule }] };
      }
      const command = await needs.command(request);
      const decided = await needs.streams.decideOn(
        tuples,
        tupleKey(tenantId, fields),
        command,
        (tuple) => deleteTuple(fields, tuple),
      );
      const position =
        decided.position ??
        (await recordRepeat(needs, command, {
          type: 'TupleDeleteRepeated',
          data: { tuple_id: null, ...fields },
        }));
      await settle(needs, tenantId, position);
      return { ok: { status: 'deleted' as const }, wrote: position };
    },
  );
