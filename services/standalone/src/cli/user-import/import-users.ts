/**
 * Imports the users of a file into a deployment in pages, or only reports what would happen. An existing user is
 * unchanged, so a run that was stopped can be repeated.
 */
import type { CheckImport, ImportedUser } from '@cardea/identity';
import { NotDone } from '../failures.ts';
import type { ForeignUser } from './foreign-user.ts';
import type { SendPage } from './send-page.ts';

/** The number of users that the API accepts at once, and almost the maximum size of its bodies. */
const PAGE_USERS_MAX = 100;
const PAGE_BYTES_MAX = 192 * 1024;

export type Tally = {
  users: number;
  /** Without `send`, the number of users who could be imported. */
  imported: number;
  already_there: number;
  refused: number;
  /** Users imported without a second factor that they had. */
  second_factors_left: number;
};

type Dependencies = {
  readonly check: CheckImport;
  /** Undefined for a dry run: nothing is sent. */
  readonly send: SendPage | undefined;
  readonly runId: string;
  readonly refuse: (at: Location, code: string) => void;
  readonly note: (at: Location, code: string) => void;
  readonly signal: AbortSignal;
};
/**
 * The location of a user in the file. Files of some products have only one line, so the user's number is also given.
 */
export type Location = {
  readonly line: number;
  /** The first user has number 1. */
  readonly user: number;
};
type Waiting = { readonly at: Location; readonly user: ImportedUser };

export async function importUsers(
  users: AsyncIterable<ForeignUser>,
  deps: Dependencies,
): Promise<Tally> {
  const tally = { users: 0, imported: 0, already_there: 0, refused: 0, second_factors_left: 0 };
  const addresses = new Set<string>();
  let page: Waiting[] = [];
  let bytes = 0;
  const refuse = (at: Location, code: string): void => {
    tally.refused += 1;
    deps.refuse(at, code);
  };
  const flush = async (): Promise<void> => {
    if (deps.signal.aborted) throw new NotDone('stopped', 'stopped');
    if (page.length > 0) await sendWaiting(page, { tally, refuse, deps });
    page = [];
    bytes = 0;
  };
  try {
    for await (const found of users) {
      tally.users += 1;
      const at = { line: found.line, user: tally.users };
      const checked = 'refused' in found ? found : deps.check(found.user);
      if ('refused' in checked || 'refused' in found) {
        refuse(at, 'refused' in checked ? checked.refused : 'unreadable');
        continue;
      }
      if (addresses.has(checked.email)) {
        refuse(at, 'duplicate_address');
        continue;
      }
      addresses.add(checked.email);
      for (const note of found.notes) {
        tally.second_factors_left += 1;
        deps.note(at, note);
      }
      const size = Buffer.byteLength(JSON.stringify(found.user));
      if (page.length >= PAGE_USERS_MAX || bytes + size > PAGE_BYTES_MAX) await flush();
      page.push({ at, user: found.user });
      bytes += size;
    }
    await flush();
  } catch (error) {
    if (!(error instanceof NotDone) || deps.send === undefined) throw error;
    const { imported, already_there: there } = tally;
    const counts = `${imported} users imported, ${there} were there before`;
    throw new NotDone(`${error.message} (${counts}; run it again to go on)`, error.code);
  }
  return tally;
}

async function sendWaiting(
  page: readonly Waiting[],
  {
    tally,
    refuse,
    deps,
  }: {
    readonly tally: Tally;
    readonly refuse: (at: Location, code: string) => void;
    readonly deps: Dependencies;
  },
): Promise<void> {
  if (deps.send === undefined) {
    tally.imported += page.length;
    return;
  }
  const key = `users-import-${deps.runId}-${page[0]?.at.user ?? 0}`;
  const users = page.map(({ user }) => user);
  const { refused } = await deps.send(users, { key, signal: deps.signal });
  for (const [place, { at }] of page.entries()) {
    const code = refused.get(place);
    if (code === undefined) tally.imported += 1;
    else if (code === 'email_already_exists') tally.already_there += 1;
    else refuse(at, code);
  }
}
