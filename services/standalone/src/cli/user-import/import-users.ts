/**
 * Brings the users of a file to a deployment, page by page, or only says what would become of them. A user who is
 * there already is left alone, so that a run which was stopped is simply repeated.
 */
import type { CheckImport, ImportedUser } from '@cardea/identity';
import { NotDone } from '../failures.ts';
import type { ForeignUser } from './foreign-user.ts';
import type { SendPage } from './send-page.ts';

/** As many as the API takes, and as many bytes as its bodies may have with some to spare. */
const PAGE_USERS_MAX = 100;
const PAGE_BYTES_MAX = 192 * 1024;

export type Tally = {
  users: number;
  /** Without `send`: those that could be imported. */
  imported: number;
  already_there: number;
  refused: number;
  /** Imported without a second factor that they had. */
  second_factors_left: number;
};

type Dependencies = {
  readonly check: CheckImport;
  /** Undefined: nothing is sent. */
  readonly send: SendPage | undefined;
  readonly runId: string;
  readonly refuse: (line: number, code: string) => void;
  readonly note: (line: number, code: string) => void;
  readonly signal: AbortSignal;
};
type Waiting = { readonly line: number; readonly user: ImportedUser };

export async function importUsers(
  users: AsyncIterable<ForeignUser>,
  deps: Dependencies,
): Promise<Tally> {
  const tally = { users: 0, imported: 0, already_there: 0, refused: 0, second_factors_left: 0 };
  const addresses = new Set<string>();
  let page: Waiting[] = [];
  let bytes = 0;
  const refuse = (line: number, code: string): void => {
    tally.refused += 1;
    deps.refuse(line, code);
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
      const { line } = found;
      const checked = 'refused' in found ? found : deps.check(found.user);
      if ('refused' in checked || 'refused' in found) {
        refuse(line, 'refused' in checked ? checked.refused : 'unreadable');
        continue;
      }
      if (addresses.has(checked.email)) {
        refuse(line, 'duplicate_address');
        continue;
      }
      addresses.add(checked.email);
      for (const note of found.notes) {
        tally.second_factors_left += 1;
        deps.note(line, note);
      }
      const size = Buffer.byteLength(JSON.stringify(found.user));
      if (page.length >= PAGE_USERS_MAX || bytes + size > PAGE_BYTES_MAX) await flush();
      page.push({ line, user: found.user });
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
    readonly refuse: (line: number, code: string) => void;
    readonly deps: Dependencies;
  },
): Promise<void> {
  if (deps.send === undefined) {
    tally.imported += page.length;
    return;
  }
  const key = `users-import-${deps.runId}-${page[0]?.line ?? 0}`;
  const users = page.map(({ user }) => user);
  const { refused } = await deps.send(users, { key, signal: deps.signal });
  for (const [place, { line }] of page.entries()) {
    const code = refused.get(place);
    if (code === undefined) tally.imported += 1;
    else if (code === 'email_already_exists') tally.already_there += 1;
    else refuse(line, code);
  }
}
