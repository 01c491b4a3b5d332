/**
 * The calls of approval and vault: who holds a relation now. They use the same engine as checks, so a removal that was
 * answered on one replica is seen by all.
 */
import { HOLDERS_MAX, type HolderCheck } from '@cardea/contracts';
import { type Peers, PeerUnavailable } from '@cardea/service';
import type { CheckRequest } from '../../engine/on-behalf-of.ts';
import { Work } from '../../engine/work.ts';
import type { Relation } from '../../relations/relation.ts';
import type { Unanswered } from '../../replicas/answered.ts';
import type { Asking, Engine } from '../../replicas/engine.ts';

/** The longest time that the callers wait. */
const ANSWER_MAX_MS = 2_000;
const USER = 'user';

export const authzRpc = ({ engine }: { readonly engine: Engine }): Peers['authz'] => ({
  holders: async ({ tenant_id, relation, object_type, object_id }) => {
    const question = { relation: named(relation), object_type, object_id, user_type: USER };
    const answer = await engine.listUsers(askingNow(tenant_id), question);
    if ('unanswered' in answer) {
      if (answer.unanswered === 'unknown_relation') return { user_ids: [], wildcard: false };
      throw unavailable(answer.unanswered);
    }
    const { ids, wildcard } = answer.value;
    return { user_ids: ids.slice(0, HOLDERS_MAX + 1), wildcard };
  },
  check: async ({ tenant_id, checks }) => ({
    allowed: await allowedEach(engine, askingNow(tenant_id), checks),
  }),
});

const askingNow = (tenantId: string): Asking => ({
  tenantId,
  work: new Work(tenantId, AbortSignal.timeout(ANSWER_MAX_MS)),
  atLeast: undefined,
});

/** If the tenant's model lacks a relation, nobody has it. The other checks are answered without it. */
async function allowedEach(
  engine: Engine,
  of: Asking,
  checks: readonly HolderCheck[],
): Promise<readonly boolean[]> {
  const unknown = new Set<string>();
  const kindOf = ({ object_type, relation }: HolderCheck) =>
    JSON.stringify([object_type, relation]);
  // Each round finds one more relation that the model lacks.
  for (let round = 0; round <= checks.length; round += 1) {
    const known = checks.filter((check) => !unknown.has(kindOf(check)));
    const answer = await engine.checkAll(of, known.map(checkOf));
    if (!('unanswered' in answer)) {
      const results = answer.value.values();
      return checks.map((check) => {
        if (unknown.has(kindOf(check))) return false;
        const checked = results.next().value;
        if (checked === undefined) throw unavailable('evaluation_budget_exceeded');
        return checked.allowed;
      });
    }
    const missing = known[answer.at ?? 0];
    if (answer.unanswered !== 'unknown_relation' || missing === undefined) {
      throw unavailable(answer.unanswered);
    }
    unknown.add(kindOf(missing));
  }
  throw unavailable('overloaded');
}

const checkOf = ({ user_id, relation, object_type, object_id }: HolderCheck): CheckRequest => ({
  user_type: USER,
  user_id,
  relation: named(relation),
  object_type,
  object_id,
});

/** One of the seven relations, or a relation of the tenant's own model. The engine refuses any other. */
const named = (relation: string) => relation as Relation;

const unavailable = (why: Unanswered) => new PeerUnavailable(`authz cannot answer: ${why}`);
