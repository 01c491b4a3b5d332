import { endpoint } from '@cardea/http';
import Type from 'typebox';
import { dryRunOk, dryRunShape, FLIPS_SHOWN, shownDryRun } from '../../http/dry-run-shape.ts';
import {
  askingOf,
  consistent,
  refusalOf,
  UNANSWERED,
  WRITES,
} from '../../http/endpoint-defaults.ts';
import type { DryRuns } from '../../replicas/table-engine.ts';
import { conditions, MODEL_KEYS_MAX, typesShape } from '../model-shape.ts';
import { refusedModel } from '../refused-model.ts';

export const dryRunModelRoute = ({ dryRun }: { readonly dryRun: DryRuns }) =>
  endpoint(
    {
      ...WRITES,
      who: ['admin', 'api_key:model:write'],
      name: 'dry_run_model',
      machine: 'model:write',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'Which checks another model would answer otherwise; nothing is published',
      description:
        'Tells which checks another model would answer otherwise, and publishes nothing. Where there is too much to compare, `complete` is false and the counts are lower bounds.',
      method: 'post',
      repeat: 'safe',
      consistency: { byHandler: true },
      path: '/api/v1/fga/model/dry-run',
      input: { keysMax: MODEL_KEYS_MAX },
      body: Type.Object({ types: typesShape, conditions, ...dryRunShape }),
      ok: dryRunOk,
      refusals: { ...UNANSWERED, model_invalid: 422 },
    },
    async (request) => {
      const { types, relations, limit = FLIPS_SHOWN } = request.body;
      const invalid = refusedModel(request.body);
      if (invalid !== undefined) return invalid;
      const batch = { writes: [], deletes: [] };
      const answer = await dryRun(askingOf(request), { batch, types, relations, limit });
      if ('unanswered' in answer) return refusalOf(answer.unanswered, 'relations');
      return { ok: shownDryRun(answer.value), headers: consistent(answer.position) };
    },
  );
