import { endpoint } from '@cardea/http';
import Type from 'typebox';
import type { DryRuns } from '../../engine/table-engine.ts';
import { dryRunOk, dryRunShape, FLIPS_SHOWN, shownDryRun } from '../../tuples/dry-run-shape.ts';
import {
  askingOf,
  consistent,
  refusalOf,
  UNANSWERED,
  WRITES,
} from '../../tuples/endpoint-defaults.ts';
import { conditions, typesShape } from '../model-shape.ts';
import { refusedModel } from '../refused-model.ts';

export const dryRunModelRoute = ({ dryRun }: { readonly dryRun: DryRuns }) =>
  endpoint(
    {
      ...WRITES,
      who: ['admin'],
      applicationScope: 'roles',
      name: 'dry_run_model',
      summary: 'Which checks another model would answer otherwise; nothing is published',
      method: 'post',
      retry: 'safe',
      handlesConsistency: true,
      path: '/api/v1/fga/model/dry-run',
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
