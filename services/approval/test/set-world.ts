/**
 * Fake responses of authz and identity about who has which role or relation, for tests of approver sets. Both count
 * their calls.
 */
import type { Person } from '@cardea/contracts';
import type { Offers } from '@cardea/service';

export type SetWorld = {
  readonly peers: Offers;
  /** The holders of `team:payments#approver`. */
  readonly members: Set<string>;
  readonly people: Map<string, Person>;
  isPublic: boolean;
  /** Whether authz and identity answer nothing. */
  isSilent: boolean;
  calls: number;
};

export const SET = 'team:payments#approver';

export function setWorld(): SetWorld {
  const world: SetWorld = {
    members: new Set(),
    people: new Map(),
    isPublic: false,
    isSilent: false,
    calls: 0,
    peers: {
      authz: {
        holders: async () =>
          answered({ user_ids: [...world.members].slice(0, 101), wildcard: world.isPublic }),
        check: async ({ checks }) =>
          answered({
            allowed: checks.map(
              ({ user_id, object_id, relation }) =>
                `${object_id} ${relation}` === 'payments approver' && world.members.has(user_id),
            ),
          }),
      },
      identity: {
        people: async ({ userIds = [], role }) => {
          const all = [...world.people.values()];
          return answered({
            people: all.filter(
              ({ id, roles }) =>
                userIds.includes(id) || (role !== undefined && roles.includes(role)),
            ),
          });
        },
      },
    },
  };
  const answered = async <Answer>(answer: Answer): Promise<Answer> => {
    world.calls += 1;
    if (world.isSilent) await new Promise(() => {});
    return answer;
  };
  return world;
}

export const person = (id: string, more: Partial<Person> = {}): readonly [string, Person] => [
  id,
  { id, status: 'active', vouched: true, roles: ['member'], ...more },
];
