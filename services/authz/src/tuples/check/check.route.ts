import { endpoint } from '@cardea/http';
import { metrics } from '@cardea/runtime';
import Type from 'typebox';
import type { Engine } from '../../engine/engine.ts';
import { consistent, positionSeen, READS, UNANSWERED } from '../endpoint-defaults.ts';
import { fieldsShape } from '../tuple-shape.ts';

export const checkRoute = ({ engine }: { readonly engine: Engine }) =>
  endpoint(
    {
      ...READS,
      name: 'fga_check',
      clientName: 'check',
      summary: 'Whether a principal has a relation to an object, and why',
      method: 'post',
      retry: 'safe',
      handlesConsistency: true,
      path: '/api/v1/fga/check',
      body: Type.Object(fieldsShape),
      ok: Type.Object({ allowed: Type.Boolean(), reason: Type.Optional(Type.String()) }),
      refusals: UNANSWERED,
    },
    async (request) => {
      const stop = metrics.checkDuration.startTimer();
      const answer = await engine.check(request.tenantId, request.body, positionSeen(request));
      stop();
      if ('unanswered' in answer) return { refused: answer.unanswered };
      return { ok: answer.value, headers: consistent(answer.position) };
    },
  );
