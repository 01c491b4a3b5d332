import { type Fields, RELATIONS, type Relation } from '../relations/relation.ts';
import { shownName } from './shown-names.ts';
import type { NodeTuple, TupleGraph } from './tuple-graph.ts';

/** The number of tuples at either end that a longer path shows. */
const PATH_TUPLES_MAX = 16;
const PATH_ENDS = 8;

type WordedPath = { readonly path: readonly NodeTuple[]; readonly grant: NodeTuple };

/** The path, tuple by tuple as stored. If the implied relation is not the requested one, it follows in brackets. */
export function wordPath(graph: TupleGraph, { path, grant }: WordedPath, asked: Fields): string {
  const names = namesIn(graph, path, asked);
  const words = shortened(path, ({ subject, relation, object }) => {
    const from = names(subject);
    return `${from} ${RELATIONS[relation]} ${names(object)}`;
  });
  return `${words}${impliedBy(relationName(grant), asked.relation)}`;
}

/**
 * The names of a path's nodes. Its ends are named as in the question. Each other node is the end of two adjacent
 * tuples.
 */
function namesIn(
  { nodes }: TupleGraph,
  path: readonly NodeTuple[],
  asked: Fields,
): (node: number) => string {
  const subject = path[0]?.subject as number;
  const object = path.at(-1)?.object;
  // A path may also begin with the wildcard of the subject's type.
  const isAsked = nodes.wildcardBeside(subject) !== subject;
  let node = 0;
  let text = '';
  return (next) => {
    if (next === node) return text;
    node = next;
    if (next === object) text = nodes.nameOf(next, asked.object_id);
    else if (next === subject && isAsked) text = nodes.nameOf(next, asked.user_id);
    else text = nodes.nameOf(next);
    return text;
  };
}

/** Prints the two ends of a long path. */
export function shortened<T>(path: readonly T[], word: (tuple: T) => string): string {
  const hidden = path.length > PATH_TUPLES_MAX ? path.length - 2 * PATH_ENDS : 0;
  let words = '';
  for (let at = 0; at < path.length; at++) {
    if (at > 0) words += ' > ';
    if (at === PATH_ENDS && hidden > 0) {
      words += `(${hidden} more) > `;
      at += hidden;
    }
    words += word(path[at] as T);
  }
  return words;
}

/** The relations of a path that differ from the requested one. */
export const impliedBy = (granted: string, asked: string): string =>
  granted === asked ? '' : ` (${granted} implies ${asked})`;

/** The strongest relation that the principal does have, if it was insufficient. */
export function wordNearMiss({ nodes }: TupleGraph, held: NodeTuple, asked: Fields): string {
  const ends = nodes.ends(asked);
  const via = held.subject === ends.subject ? '' : ` via ${nodes.nameOf(held.subject)}`;
  const on = held.object === ends.object ? '' : ` on ${nodes.nameOf(held.object)}`;
  return `held: ${relationName(held)}${via}${on}; needed: ${asked.relation}`;
}

const relationName = ({ relation }: NodeTuple): Relation => RELATIONS[relation] as Relation;

/** Prints the tuple of a model, whose subject may be `group#member`. */
export function wordFields(tuple: Fields): string {
  const [type = '', ...relations] = tuple.user_type.split('#');
  const subject = shownName(type, tuple.user_id);
  const object = shownName(tuple.object_type, tuple.object_id);
  return `${[subject, ...relations].join('#')} ${tuple.relation} ${object}`;
}
