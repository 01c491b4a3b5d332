/**
 * The list of a tenant's administrators, so that the last one can be kept. A user who is about to lose the
 * role is marked as leaving before the user's own stream records it, and additions are recorded afterwards.
 * So the list may contain too many for a moment, and its readers verify the remaining ones in their own
 * streams.
 */
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';

/**
 * Maximum age of a leaving mark. After it the request counts as abandoned, and the marked user counts as an
 * administrator again.
 */
export const LEAVING_MS = 60_000;

export type Leaving = {
  readonly id: string;
  /** The command that removes the role. */
  readonly command_id: string;
  readonly at: string;
};

export type AdministratorList =
  | { readonly status: 'none' }
  | {
      readonly status: 'built';
      readonly ids: readonly string[];
      readonly leaving: readonly Leaving[];
    };

export type AdministratorListEvent = {
  readonly type: 'AdministratorsChanged';
  readonly concerns?: never;
  readonly data: { readonly ids: readonly string[]; readonly leaving: readonly Leaving[] };
};

/** One list per tenant. The stream has the tenant's id. */
export const administratorLists: Stream<AdministratorList, AdministratorListEvent> = {
  noun: 'administrators',
  initial: { status: 'none' },
  stateCarrying: true,
  evolve: (_before, { data }) => ({ status: 'built', ...data }),
};

export const build = (
  ids: readonly string[],
  list: AdministratorList,
): Decision<AdministratorListEvent, never> =>
  list.status === 'none' ? changed({ ids: ids.toSorted(), leaving: [] }) : accept();

export type Departure = { readonly userId: string; readonly commandId: string; readonly now: Date };

export function recordDeparture(
  { userId, commandId, now }: Departure,
  list: AdministratorList,
): Decision<AdministratorListEvent, 'not_built' | 'last_admin'> {
  if (list.status === 'none') return refuse('not_built');
  if (remaining(list, userId, now).length === 0) return refuse('last_admin');
  const mark = { id: userId, command_id: commandId, at: now.toISOString() };
  return changed({ ids: list.ids, leaving: [...standing(list, now), mark] });
}

export type Settle = {
  readonly userId: string;
  /** Whether the user is an administrator according to their own stream. */
  readonly isAdmin: boolean;
  /** The command whose mark is removed. Other marks stay, because their commands may still be running. */
  readonly commandId: string | null;
  readonly now: Date;
};

export function settle(
  { userId, isAdmin, commandId, now }: Settle,
  list: AdministratorList,
): Decision<AdministratorListEvent, never> {
  if (list.status === 'none') return accept();
  const others = list.ids.filter((id) => id !== userId);
  const ids = isAdmin ? [...others, userId].sort() : others;
  const leaving = standing(list, now).filter(({ id, command_id }) =>
    id === userId ? isAdmin && command_id !== commandId : true,
  );
  const isSame = ids.length === list.ids.length && leaving.length === list.leaving.length;
  return isSame ? accept() : changed({ ids, leaving });
}

/** Administrators other than this user who are not marked as leaving. */
export function remaining(list: AdministratorList, userId: string, now: Date): readonly string[] {
  if (list.status === 'none') return [];
  const gone = new Set([userId, ...standing(list, now).map(({ id }) => id)]);
  return list.ids.filter((id) => !gone.has(id));
}

const standing = (list: { readonly leaving: readonly Leaving[] }, now: Date): readonly Leaving[] =>
  list.leaving.filter(({ at }) => now.getTime() - new Date(at).getTime() < LEAVING_MS);

const changed = (data: AdministratorListEvent['data']) =>
  accept<AdministratorListEvent>({ type: 'AdministratorsChanged', data });
