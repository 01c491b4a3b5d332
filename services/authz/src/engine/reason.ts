import type { Fields } from '../tuples/relation.ts';
import type { Path } from './check.ts';
import { shownName } from './shown-names.ts';
import type { TupleGraph } from './tuple-graph.ts';

/** Longer paths show this many tuples at either end. */
const PATH_TUPLES_MAX = 16;
const PATH_ENDS = 8;

/**
 * The path, tuple by tuple as stored, with the implied relation in brackets if it is not the requested one.
 */
export function wordPath(graph: TupleGraph, path: Path, asked: Fields): string {
  const names = namesIn(graph, path, asked);
  const words = shortened(path.records, (record) => {
    const subject = names(graph.records.subjectOf(record));
    const object = names(graph.records.objectOf(record));
    return `${subject} ${graph.relationOf(record)} ${object}`;
  });
  return `${words}${impliedBy(graph.relationOf(path.grant), asked.relation)}`;
}

/** Names of a path's nodes. Its ends are as asked; the others come twice, one after the other. */
function namesIn(graph: TupleGraph, { records }: Path, asked: Fields): (node: number) => string {
  const subject = graph.records.subjectOf(records[0] as number);
  const object = graph.records.objectOf(records.at(-1) as number);
  // A path may also begin with the wildcard of the subject's type.
  const isAsked = graph.nodes.wildcardBeside(subject) !== subject;
  let node = 0;
  let text = '';
  return (next) => {
    if (next === node) return text;
    node = next;
    if (next === object) text = graph.nodes.nameOf(next, asked.object_id);
    else if (next === subject && isAsked) text = graph.nodes.nameOf(next, asked.user_id);
    else text = graph.nodes.nameOf(next);
    return text;
  };
}

/** Of a long path, its two ends. */
export function shortened<T>(path: readonly T[], word: (tuple: T) => string): string {
  const hidden = path.length - 2 * PATH_ENDS;
  const tuples =
    path.length <= PATH_TUPLES_MAX
      ? path.map(word)
      : [
          ...path.slice(0, PATH_ENDS).map(word),
          `(${hidden} more)`,
          ...path.slice(-PATH_ENDS).map(word),
        ];
  return tuples.join(' > ');
}

/** Where what is granted is not what was asked for. */
export const impliedBy = (granted: string, asked: string): string =>
  granted === asked ? '' : ` (${granted} implies ${asked})`;

/** The strongest relation that the principal does have, where it was not enough. */
export function wordNearMiss(graph: TupleGraph, record: number, asked: Fields): string {
  const subject = graph.records.subjectOf(record);
  const object = graph.records.objectOf(record);
  const ends = graph.nodes.ends(asked);
  const via = subject === ends.subject ? '' : ` via ${graph.nodes.nameOf(subject)}`;
  const on = object === ends.object ? '' : ` on ${graph.nodes.nameOf(object)}`;
  return `held: ${graph.relationOf(record)}${via}${on}; needed: ${asked.relation}`;
}

/** Of a model's tuple, whose subject may be `group#member`. */
export function wordFields(tuple: Fields): string {
  const [type = '', ...relations] = tuple.user_type.split('#');
  const subject = shownName(type, tuple.user_id);
  const object = shownName(tuple.object_type, tuple.object_id);
  return `${[subject, ...relations].join('#')} ${tuple.relation} ${object}`;
}
