import { documented } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import Type from 'typebox';
import type { DryRuns } from '../../engine/table-engine.ts';
import { changesShape, NOT_EMPTY, readBatch } from '../change-batch.ts';
import { askingOf, consistent, UNANSWERED, WRITES } from '../endpoint-defaults.ts';
import { RELATIONS } from '../relation.ts';
import { fieldsShape } from '../tuple-shape.ts';

const FLIPS_MAX = 1_000;
const FLIPS_SHOWN = 100;

const count = Type.Integer({ minimum: 0 });
const flip = Type.Object({ ...fieldsShape, from: Type.Boolean(), to: Type.Boolean() });
const relations = Type.Array(fieldsShape.relation, { minItems: 1, maxItems: RELATIONS.length });

export const dryRunRoute = ({ dryRun }: { readonly dryRun: DryRuns }) =>
  endpoint(
    {
      ...WRITES,
      name: 'fga_dry_run',
      clientName: 'dry_run',
      summary: 'Which checks a batch of changes would answer otherwise; nothing is written',
      method: 'post',
      retry: 'safe',
      handlesConsistency: true,
      path: '/api/v1/fga/dry-run',
      body: documented(
        Type.Object({
          ...changesShape,
          relations: Type.Optional(documented(relations, { uniqueItems: true })),
          limit: Type.Optional(
            Type.Integer({ minimum: 0, maximum: FLIPS_MAX, default: FLIPS_SHOWN }),
          ),
        }),
        NOT_EMPTY,
      ),
      ok: Type.Object({
        flips: Type.Array(flip),
        total: count,
        complete: Type.Boolean(),
        principals_affected: count,
        objects_affected: count,
      }),
      refusals: { ...UNANSWERED, invalid_request: 400 },
    },
    async (request) => {
      const { body } = request;
      const batch = readBatch(body);
      if ('refused' in batch) return batch;
      const { limit = FLIPS_SHOWN } = body;
      const asked = new Set(body.relations ?? RELATIONS);
      const answer = await dryRun(askingOf(request), { batch, relations: [...asked], limit });
      if ('unanswered' in answer) return { refused: answer.unanswered };
      const { principalsAffected, objectsAffected, ...found } = answer.value;
      return {
        ok: {
          ...found,
          flips: [...found.flips],
          principals_affected: principalsAffected,
          objects_affected: objectsAffected,
        },
        headers: consistent(answer.position),
      };
    },
  );
