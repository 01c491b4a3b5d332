import { endpoint } from '@cardea/http';
import type { Database, Positions } from '@cardea/read-models';
import { type Clock, metrics } from '@cardea/runtime';
import Type from 'typebox';
import type { CheckRequest } from '../../engine/on-behalf-of.ts';
import type { Checked } from '../../engine/tuple-index.ts';
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
import { fieldsShape, onBehalfOf, tupleShape } from '../../http/tuple-shape.ts';
import type { Answered } from '../../replicas/answered.ts';
import type { Asking, Engine } from '../../replicas/engine.ts';
import { type ShownTuple, storedTuples } from '../stored-tuples.ts';

type Dependencies = {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly database: Database;
  readonly positions: Positions;
};

/** The longest wait for the table, which has the ids and times of a path's tuples. */
const TABLE_WAIT_MS = 2_000;
/** How often a check is evaluated if tuples of its path are deleted before the table is read. */
const EXPLANATIONS_MAX = 3;

const tuples = Type.Optional(Type.Array(tupleShape));

export const checkRoute = (needs: Dependencies) =>
  endpoint(
    {
      ...READS,
      name: 'fga_check',
      summary: 'Whether a principal has a relation to an object, and why',
      description:
        'Answers whether a principal has a relation to an object, and by which chain of tuples. With `explain=true` the answer has the tuples themselves. It may read 1,000,000 tuple records, then it is 503 `evaluation_budget_exceeded`; a limit never turns into a denial. `as_of`, a question about an earlier moment, is for administrators and API keys.',
      method: 'post',
      repeat: 'safe',
      consistency: { byHandler: true },
      path: '/api/v1/fga/check',
      query: Type.Object({ explain: Type.Optional(Type.Boolean()) }),
      body: Type.Object({ ...fieldsShape, ...onBehalfOf, ...asOfShape }),
      ok: Type.Object({
        allowed: Type.Boolean(),
        reason: Type.Optional(Type.String()),
        path: tuples,
        held: tuples,
        ...asOfShape,
      }),
      refusals: LOOKING_BACK,
    },
    (request) => {
      const { engine, clock } = needs;
      const startMs = clock.monotonicMs();
      const of = askingAt(request, clock);
      if ('refused' in of) return of;
      const answer =
        request.query.explain === true
          ? explained(needs, of, request.body)
          : engine.check(of, request.body);
      return onceAnswered(answer, (answered: Answered<Shown>) => {
        metrics.checkDuration.observe((clock.monotonicMs() - startMs) / 1000);
        if ('unanswered' in answered) return refusalOf(answered.unanswered);
        const { value, position } = answered;
        const ok = request.body.as_of === undefined ? value : { ...value, ...echoOf(request.body) };
        return { ok, headers: consistent(position) };
      });
    },
  );

type Shown = Checked & { readonly path?: ShownTuple[]; readonly held?: ShownTuple[] };

/** The index knows a tuple's fields; the table has its id and time. */
async function explained(
  { engine, database, positions }: Dependencies,
  of: Asking,
  asked: CheckRequest,
): Promise<Answered<Shown>> {
  for (let attempt = 1; attempt <= EXPLANATIONS_MAX; attempt++) {
    const answer = await engine.explain(of, asked);
    if ('unanswered' in answer) return answer;
    const { position } = answer;
    const table = of.asOf === undefined ? 'tuples' : 'tuple_spans';
    if (!(await positions.reached([table], position, TABLE_WAIT_MS))) break;
    const { path, held, ...checked } = answer.value;
    const stored = await storedTuples(database, of, path ?? held ?? []);
    if (stored === undefined) continue;
    const shown = path ? { path: [...stored] } : held ? { held: [...stored] } : {};
    return { value: { ...checked, ...shown }, position };
  }
  return { unanswered: 'not_caught_up' };
}
