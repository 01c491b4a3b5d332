import { documented } from '@cardea/contracts';
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
import type { CurrentModels } from '../../models/current-models.ts';
import type { DryRuns } from '../../replicas/table-engine.ts';
import { changesShape, faultsUnder, NOT_EMPTY, readBatch } from '../change-batch.ts';

type Dependencies = { readonly dryRun: DryRuns; readonly models: Pick<CurrentModels, 'of'> };

export const dryRunRoute = ({ dryRun, models }: Dependencies) =>
  endpoint(
    {
      ...WRITES,
      name: 'fga_dry_run',
      summary: 'Which checks a batch of changes would answer otherwise; nothing is written',
      description:
        'Tells which checks would be answered otherwise after a batch of writes and deletes, and writes nothing. Where there is too much to compare, `complete` is false and the counts are lower bounds.',
      method: 'post',
      repeat: 'safe',
      consistency: { byHandler: true },
      path: '/api/v1/fga/dry-run',
      body: documented(
        Type.Object({
          ...changesShape,
          ...dryRunShape,
        }),
        NOT_EMPTY,
      ),
      ok: dryRunOk,
      refusals: UNANSWERED,
    },
    async (request) => {
      const { body } = request;
      const batch = readBatch(body);
      if ('refused' in batch) return batch;
      const faults = faultsUnder(await models.of(request.tenantId), batch);
      if (faults !== undefined) return faults;
      const { limit = FLIPS_SHOWN, relations: asked } = body;
      const answer = await dryRun(askingOf(request), {
        batch,
        relations: asked,
        limit,
      });
      if ('unanswered' in answer) return refusalOf(answer.unanswered, 'relations');
      return { ok: shownDryRun(answer.value), headers: consistent(answer.position) };
    },
  );
