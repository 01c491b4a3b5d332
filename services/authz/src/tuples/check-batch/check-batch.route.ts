import { endpoint, messageOf } from '@cardea/http';
import Type from 'typebox';
import {
  askingOf,
  consistent,
  READS,
  refusalOf,
  UNANSWERED,
} from '../../http/endpoint-defaults.ts';
import { fieldsShape, onBehalfOf } from '../../http/tuple-shape.ts';
import type { Engine } from '../../replicas/engine.ts';

const CHECKS_MAX = 100;

const item = Type.Object({
  allowed: Type.Optional(Type.Boolean()),
  reason: Type.Optional(Type.String()),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
});

export const checkBatchRoute = ({ engine }: { readonly engine: Engine }) =>
  endpoint(
    {
      ...READS,
      name: 'fga_check_batch',
      summary: 'Up to 100 checks at one position, answered in their order',
      description:
        'Answers 1 to 100 checks in their order, all at one position of the log and within one budget. A check for which no budget is left has an `error` in its place.',
      method: 'post',
      repeat: 'safe',
      consistency: { byHandler: true },
      path: '/api/v1/fga/check/batch',
      body: Type.Object({
        checks: Type.Array(Type.Object({ ...fieldsShape, ...onBehalfOf }), {
          minItems: 1,
          maxItems: CHECKS_MAX,
        }),
      }),
      ok: Type.Object({ results: Type.Array(item) }),
      refusals: UNANSWERED,
    },
    async (request) => {
      const answer = await engine.checkAll(askingOf(request), request.body.checks);
      if ('unanswered' in answer)
        return refusalOf(answer.unanswered, `checks.${answer.at}.relation`);
      const results = answer.value.map((checked) => checked ?? { error: TOO_LARGE });
      return { ok: { results }, headers: consistent(answer.position) };
    },
  );

const code = 'evaluation_budget_exceeded';
const TOO_LARGE = { code, message: messageOf(code) };
