import { endpoint } from '@cardea/http';
import { type Clock, metrics } from '@cardea/runtime';
import Type from 'typebox';
import type { Engine } from '../../engine/engine.ts';
import { consistent, READS, UNANSWERED } from '../endpoint-defaults.ts';
import { fieldsShape } from '../tuple-shape.ts';

export const checkRoute = ({ engine, clock }: { readonly engine: Engine; readonly clock: Clock }) =>
  endpoint(
    {
      ...READS,
      name: 'fga_check',
      clientName: 'check',
      summary: 'Whether a principal has a relation to an object, and why',
      method: 'post',
      fast: true,
      retry: 'safe',
      handlesConsistency: true,
      path: '/api/v1/fga/check',
      body: Type.Object(fieldsShape),
      ok: Type.Object({ allowed: Type.Boolean(), reason: Type.Optional(Type.String()) }),
      refusals: UNANSWERED,
    },
    async (request) => {
      const startMs = clock.monotonicMs();
      const answer = await engine.check(request.tenantId, request.body, request.positionSeen);
      metrics.checkDuration.observe((clock.monotonicMs() - startMs) / 1000);
      if ('unanswered' in answer) return { refused: answer.unanswered };
      return { ok: answer.value, headers: consistent(answer.position) };
    },
  );
