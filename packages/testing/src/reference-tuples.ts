/**
 * The tuples of `docs/design/authz.md`, "Reference set of the benchmark": the same numbers give the same
 * graph on every machine.
 */
import { uuidFrom } from '@cardea/runtime';

export type ReferenceTuple = {
  readonly user_type: string;
  readonly user_id: string;
  readonly relation: 'viewer' | 'editor' | 'member' | 'parent';
  readonly object_type: string;
  readonly object_id: string;
};

export type ReferenceSet = {
  tuples(): Generator<ReferenceTuple>;
  /** Checks: half of them ask for a directly granted relation, half for an arbitrary one. */
  question(at: number): ReferenceTuple & { readonly relation: 'viewer' };
};

/** A million tuples, or that divided by `smaller`. */
export function referenceSet(smaller: number): ReferenceSet {
  const groups = 5_000 / smaller;
  const users = 100_000 / smaller;
  const folders = 50_000 / smaller;
  const documents = 500_000 / smaller;
  const groupGrants = 50_000 / smaller;
  const userGrants = 245_000 / smaller;
  return {
    *tuples() {
      for (let group = 4; group < groups; group++) {
        yield tuple(['group', group], 'member', ['group', Math.floor(group / 4)]);
      }
      for (let user = 0; user < users; user++) {
        yield tuple(['user', user], 'member', ['group', spread(user, groups)]);
        if (user % 2 === 0) {
          yield tuple(['user', user], 'member', ['group', spread(user + 7, groups)]);
        }
      }
      for (let folder = 8; folder < folders; folder++) {
        yield tuple(['folder', Math.floor(folder / 8)], 'parent', ['folder', folder]);
      }
      for (let document = 0; document < documents; document++) {
        yield tuple(['folder', spread(document, folders)], 'parent', ['document', document]);
      }
      for (let grant = 0; grant < groupGrants; grant++) {
        const folder = spread(grant * 3 + 1, folders);
        yield tuple(['group', spread(grant, groups)], 'viewer', ['folder', folder]);
      }
      for (let grant = 0; grant < userGrants; grant++) {
        const document = spread(grant, documents);
        yield tuple(['user', spread(grant * 5 + 2, users)], 'editor', ['document', document]);
      }
    },
    question(at) {
      const isDirect = at % 2 === 0;
      const user = spread(isDirect ? at * 5 + 2 : at * 11, users);
      const document = spread(isDirect ? at : at * 13, documents);
      return { ...tuple(['user', user], 'viewer', ['document', document]), relation: 'viewer' };
    },
  };
}

type Node = readonly [type: string, number: number];

const tuple = (
  [user_type, subject]: Node,
  relation: ReferenceTuple['relation'],
  [object_type, object]: Node,
): ReferenceTuple => ({
  user_type,
  user_id: uuidFrom(user_type, String(subject)),
  relation,
  object_type,
  object_id: uuidFrom(object_type, String(object)),
});

/** Distributes numbers evenly without randomness: multiples of the golden ratio avoid regular patterns. */
function spread(number: number, below: number): number {
  return Math.floor((((number + 1) * 0.618_033_988_75) % 1) * below);
}
