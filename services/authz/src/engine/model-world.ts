/**
 * The tuples of a tenant that has its own model, by object and relation. A subject is a principal, all of a type (`*`),
 * or a userset: those who have a relation to another object (type `group#member`).
 */

import type { Fields } from '../relations/relation.ts';
import { partsOf } from '../relations/rules.ts';

export type Subject = { readonly type: string; readonly id: string };
export type Userset = { readonly type: string; readonly id: string; readonly relation: string };

type Subjects = {
  /** Principals and wildcards, by key. */
  readonly plain: Map<string, Subject>;
  readonly usersets: Map<string, Userset>;
};
type Relations = Map<string, Subjects>;

const NO_SUBJECTS: Subjects = { plain: new Map(), usersets: new Map() };

/** Types contain no control characters, so the key is unambiguous. */
export const keyOf = (type: string, id: string): string => `${type}\u0000${id}`;

export class ModelWorld {
  /** The relations of each object, by type and id. */
  readonly #objects = new Map<string, Map<string, Relations>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  write(fields: Fields): void {
    const ids = getOr(this.#objects, fields.object_type, () => new Map<string, Relations>());
    const relations = getOr(ids, fields.object_id, () => new Map<string, Subjects>());
    const subjects = getOr(relations, fields.relation, () => ({
      plain: new Map<string, Subject>(),
      usersets: new Map<string, Userset>(),
    }));
    const key = keyOf(fields.user_type, fields.user_id);
    const { type, relation } = partsOf(fields.user_type);
    const list: Map<string, Subject> = relation === undefined ? subjects.plain : subjects.usersets;
    if (list.has(key)) return;
    const subject = { type, id: fields.user_id };
    list.set(key, relation === undefined ? subject : ({ ...subject, relation } as Userset));
    this.#size += 1;
  }

  delete(fields: Fields): void {
    const ids = this.#objects.get(fields.object_type);
    const relations = ids?.get(fields.object_id);
    const subjects = relations?.get(fields.relation);
    const key = keyOf(fields.user_type, fields.user_id);
    if (!(subjects?.plain.delete(key) || subjects?.usersets.delete(key))) return;
    this.#size -= 1;
    if (subjects.plain.size + subjects.usersets.size > 0) return;
    relations?.delete(fields.relation);
    if (relations?.size === 0) ids?.delete(fields.object_id);
    if (ids?.size === 0) this.#objects.delete(fields.object_type);
  }

  subjects(type: string, id: string, relation: string): Subjects {
    return this.#objects.get(type)?.get(id)?.get(relation) ?? NO_SUBJECTS;
  }

  /** The ids of all objects of a type that tuples name. */
  idsOf(type: string): Iterable<string> {
    return this.#objects.get(type)?.keys() ?? [];
  }

  /** Each tuple's subjects. */
  *allSubjects(): Generator<Subject | Userset> {
    for (const ids of this.#objects.values()) {
      for (const relations of ids.values()) {
        for (const { plain, usersets } of relations.values()) {
          yield* plain.values();
          yield* usersets.values();
        }
      }
    }
  }
}

function getOr<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
