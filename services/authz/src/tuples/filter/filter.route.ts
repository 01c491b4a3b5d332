import { endpoint } from '@cardea/http';
import type { Clock } from '@cardea/runtime';
import Type from 'typebox';
import {
  askingAt,
  asOfShape,
  consistent,
  echoOf,
  LOOKING_BACK,
  onceAnswered,
  READS,
  refusalOf,
} from '../../http/endpoint-defaults.ts';
import { objectId, onBehalfOf, questionShape } from '../../http/tuple-shape.ts';
import type { Engine } from '../../replicas/engine.ts';

const OBJECT_IDS_MAX = 10_000;
const count = Type.Integer({ minimum: 0 });

export const filterRoute = ({
  engine,
  clock,
}: {
  readonly engine: Engine;
  readonly clock: Clock;
}) =>
  endpoint(
    {
      ...READS,
      name: 'fga_filter',
      summary: 'Those of the given objects to which a principal has a relation',
      description:
        'Answers which of the given objects, up to 10,000, a principal has a relation to, in the order of the request. Each id is answered as a check would answer it. `as_of` is for administrators and API keys.',
      method: 'post',
      repeat: 'safe',
      consistency: { byHandler: true },
      path: '/api/v1/fga/filter',
      body: Type.Object({
        ...questionShape,
        ...onBehalfOf,
        ...asOfShape,
        object_ids: Type.Array(objectId, { maxItems: OBJECT_IDS_MAX }),
      }),
      ok: Type.Object({
        allowed_ids: Type.Array(Type.String()),
        total: count,
        allowed: count,
        denied: count,
        ...asOfShape,
      }),
      refusals: LOOKING_BACK,
    },
    (request) => {
      const { body } = request;
      const of = askingAt(request, clock);
      if ('refused' in of) return of;
      return onceAnswered(engine.filter(of, body), (answer) => {
        if ('unanswered' in answer) return refusalOf(answer.unanswered);
        const allowedIds = body.object_ids.filter((_, index) => answer.value[index]);
        const total = body.object_ids.length;
        return {
          ok: {
            allowed_ids: allowedIds,
            total,
            allowed: allowedIds.length,
            denied: total - allowedIds.length,
            ...echoOf(body),
          },
          headers: consistent(answer.position),
        };
      });
    },
  );
