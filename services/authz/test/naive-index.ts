import { Budget } from '../src/engine/budget.ts';
import { newScratch } from '../src/engine/closure.ts';
import type { Checked, Explained, Question, TupleIndex, Walk } from '../src/engine/tuple-index.ts';
import type { Fields, Relation } from '../src/relations/relation.ts';

/**
 * The semantics of `docs/design/authz.md`, "What a check means", as plain loops over an array. It tries every path and
 * ignores speed. Only tests use it, to compare the index's answers.
 */

const IMPLIED_BY: Record<string, readonly Relation[]> = {
  owner: ['owner'],
  editor: ['editor', 'owner'],
  viewer: ['viewer', 'editor', 'owner'],
  can_read: ['can_read', 'viewer', 'editor', 'owner'],
  can_write: ['can_write', 'editor', 'owner'],
};
const STRENGTH: readonly Relation[] = ['editor', 'viewer', 'can_write', 'can_read'];

type Tuple = Fields & { readonly age: number };
type Node = { readonly type: string; readonly id: string };
/** A path through tuples. `keys` order equal paths: a node's own tuple before its wildcard's, then age. */
type Way = {
  readonly end: Node;
  readonly tuples: readonly Tuple[];
  readonly keys: readonly number[];
};

const same = (a: Node, b: Node) => a.type === b.type && a.id === b.id;
const subjectOf = (tuple: Fields): Node => ({ type: tuple.user_type, id: tuple.user_id });
const objectOf = (tuple: Fields): Node => ({ type: tuple.object_type, id: tuple.object_id });
const WILD_KEY = 1e9;

const unlimited = () => ({
  budget: new Budget(Number.POSITIVE_INFINITY),
  scratch: newScratch(),
});

export function naiveIndex(): TupleIndex {
  let tuples: Tuple[] = [];
  let age = 0;
  const equal = (a: Fields, b: Fields) =>
    a.relation === b.relation && same(subjectOf(a), subjectOf(b)) && same(objectOf(a), objectOf(b));
  const allowed = (fields: Fields) => checkOf(tuples, fields).allowed;
  return {
    get size() {
      return tuples.length;
    },
    write: (tuple) => {
      if (!tuples.some((other) => equal(other, tuple))) tuples.push({ ...tuple, age: ++age });
    },
    delete: (tuple) => {
      tuples = tuples.filter((other) => !equal(other, tuple));
    },
    isWorn: false,
    save: () => {
      throw new Error('the naive evaluator is not saved');
    },
    run: unlimited,
    listRun: unlimited,
    allows: (fields) => answered(allowed(fields)),
    check: (fields) => answered(checkedOf(checkOf(tuples, fields))),
    explain: (fields) => answered(checkOf(tuples, fields)),
    filter: (question, ids) => answered(ids.map((id) => allowed({ ...question, object_id: id }))),
    listObjects: function* (question: Question) {
      const ids = new Set(
        tuples.flatMap((tuple) => [subjectOf(tuple), objectOf(tuple)]).map((node) => node.id),
      );
      return [...ids]
        .filter((id) => allowed({ ...question, object_id: id }))
        .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    },
    listUsers: function* (question) {
      const { user_type } = question;
      const own = tuples.filter((t) => !(t.user_type === user_type && t.user_id === '*'));
      const ids = new Set(
        tuples
          .flatMap((t) => [subjectOf(t), objectOf(t)])
          .filter(({ type, id }) => type === user_type && id !== '*')
          .map(({ id }) => id),
      );
      return {
        ids: [...ids]
          .filter((user_id) => checkOf(own, { ...question, user_id }).allowed)
          .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
        wildcard: allowed({ ...question, user_id: '*' }),
      };
    },
  };
}

// biome-ignore lint/correctness/useYield: nothing is so long here that it has to pause.
function* answered<T>(value: T): Walk<T> {
  return value;
}

const checkedOf = ({ path: _path, held: _held, ...checked }: Explained): Checked => checked;
const plain = ({ age: _, ...fields }: Tuple): Fields => fields;

function checkOf(tuples: readonly Tuple[], fields: Fields): Explained {
  const subject = subjectOf(fields);
  const object = objectOf(fields);
  if (fields.relation === 'parent') {
    const literal = tuples.find(
      (tuple) =>
        tuple.relation === 'parent' &&
        same(subjectOf(tuple), subject) &&
        same(objectOf(tuple), object),
    );
    return literal === undefined ? { allowed: false } : allowedBy([literal]);
  }
  const ups = waysUp(tuples, subject);
  if (fields.relation === 'member') {
    const found = best(ups, [{ end: object, tuples: [], keys: [] }], (grant) =>
      tuples.filter((tuple) => tuple.relation === 'member' && grant(tuple)),
    );
    return found === undefined ? { allowed: false } : allowedBy(found.way);
  }
  return flowing(tuples, fields, ups);
}

function flowing(tuples: readonly Tuple[], fields: Fields, ups: readonly Way[]): Explained {
  const downs = waysDown(tuples, objectOf(fields));
  const sat = IMPLIED_BY[fields.relation] ?? [];
  const found = best(ups, downs, (grant) =>
    tuples.filter((tuple) => sat.includes(tuple.relation) && grant(tuple)),
  );
  if (found !== undefined) {
    const { relation } = found.grant;
    const implied = relation === fields.relation ? '' : ` (${relation} implies ${fields.relation})`;
    return allowedBy(found.way, implied);
  }
  for (const relation of STRENGTH) {
    const held = best(ups, downs, (grant) =>
      tuples.filter((tuple) => tuple.relation === relation && grant(tuple)),
    )?.grant;
    if (held === undefined) continue;
    const via = same(subjectOf(held), subjectOf(fields)) ? '' : ` via ${show(subjectOf(held))}`;
    const on = same(objectOf(held), objectOf(fields)) ? '' : ` on ${show(objectOf(held))}`;
    const reason = `held: ${relation}${via}${on}; needed: ${fields.relation}`;
    return { allowed: false, reason, held: [plain(held)] };
  }
  return { allowed: false };
}

const allowedBy = (way: readonly Tuple[], implied = ''): Explained => ({
  allowed: true,
  reason: word(way) + implied,
  path: way.map(plain),
});

type Found = { grant: Tuple; way: readonly Tuple[]; rank: readonly (readonly number[])[] };

/** The preferred of all paths: fewest tuples, oldest grant, oldest member chain, oldest parent chain. */
function best(
  ups: readonly Way[],
  downs: readonly Way[],
  candidates: (grant: (tuple: Tuple) => boolean) => readonly Tuple[],
): Found | undefined {
  const all = ups.flatMap((up) =>
    downs.flatMap((down) =>
      candidates((tuple) => connects(tuple, up.end, down.end)).map((grant): Found => {
        const way = [...up.tuples, grant, ...[...down.tuples].reverse()];
        return { grant, way, rank: [[way.length, grant.age], up.keys, down.keys] };
      }),
    ),
  );
  return all.reduce<Found | undefined>(
    (found, next) =>
      found === undefined || before(next.rank.flat(), found.rank.flat()) ? next : found,
    undefined,
  );
}

const connects = (tuple: Tuple, subject: Node, object: Node): boolean =>
  (same(subjectOf(tuple), subject) || same(subjectOf(tuple), { type: subject.type, id: '*' })) &&
  same(objectOf(tuple), object);

/**
 * Two paths of the same length and grant have equally long chains, so a flat comparison is enough.
 */
function before(a: readonly number[], b: readonly number[]): boolean {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** Every member chain from the principal up that visits no node twice. */
function waysUp(tuples: readonly Tuple[], start: Node): readonly Way[] {
  const ways: Way[] = [];
  const climb = (way: Way, seen: readonly Node[]) => {
    ways.push(way);
    for (const tuple of tuples) {
      const next = objectOf(tuple);
      if (tuple.relation !== 'member' || seen.some((node) => same(node, next))) continue;
      const own = same(subjectOf(tuple), way.end);
      const wild = same(subjectOf(tuple), { type: way.end.type, id: '*' });
      if (!own && !wild) continue;
      const key = tuple.age + (own ? 0 : WILD_KEY);
      climb({ end: next, tuples: [...way.tuples, tuple], keys: [...way.keys, key] }, [
        ...seen,
        next,
      ]);
    }
  };
  climb({ end: start, tuples: [], keys: [] }, [start]);
  return ways;
}

/** Every parent chain from the object up that visits no node twice. */
function waysDown(tuples: readonly Tuple[], start: Node): readonly Way[] {
  const ways: Way[] = [];
  const climb = (way: Way, seen: readonly Node[]) => {
    ways.push(way);
    for (const tuple of tuples) {
      const next = subjectOf(tuple);
      if (tuple.relation !== 'parent' || seen.some((node) => same(node, next))) continue;
      if (!same(objectOf(tuple), way.end)) continue;
      climb({ end: next, tuples: [...way.tuples, tuple], keys: [...way.keys, tuple.age] }, [
        ...seen,
        next,
      ]);
    }
  };
  climb({ end: start, tuples: [], keys: [] }, [start]);
  return ways;
}

const show = (node: Node) => `${quoted(node.type)}:${node.id === '*' ? '*' : quoted(node.id)}`;
const quoted = (text: string) => (/^[A-Za-z0-9._~@/-]+$/.test(text) ? text : JSON.stringify(text));
const word = (way: readonly Tuple[]) =>
  way
    .map((tuple) => `${show(subjectOf(tuple))} ${tuple.relation} ${show(objectOf(tuple))}`)
    .join(' > ');
