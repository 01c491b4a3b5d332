/** Reads the table `AspNetUsers` of ASP.NET Identity as CSV. Columns are found by name, in any order. */
import { csvRecords } from './csv-records.ts';
import {
  foreignUser,
  importedUser,
  nameOf,
  type ReadForeignUsers,
  usernameOf,
} from './foreign-user.ts';

const TRUE: readonly string[] = ['true', '1', 't', 'yes'];
/** The texts that SQL Server Management Studio and psql print for a null value. */
const ABSENT: readonly string[] = ['', 'NULL', '\\N'];

export const aspNetUsers = (of: { readonly now: Date }): ReadForeignUsers =>
  async function* (chunks) {
    for await (const { line, fields } of csvRecords(chunks)) {
      yield foreignUser(line, fields === undefined ? 'unreadable' : readUser(fields, of));
    }
  };

function readUser(fields: ReadonlyMap<string, string>, { now }: { readonly now: Date }) {
  const value = (name: string): string | undefined => {
    const found = fields.get(name)?.trim() ?? '';
    return ABSENT.includes(found) ? undefined : found;
  };
  const is = (name: string): boolean => TRUE.includes(value(name)?.toLowerCase() ?? '');
  const email = value('email');
  if (email === undefined) return 'no_address';
  const lockedUntil = value('lockoutend');
  // A time that cannot be parsed (`infinity`) counts as a future one.
  const isLocked = lockedUntil !== undefined && !(new Date(lockedUntil) <= now);
  if (isLocked) return 'disabled';
  return {
    user: importedUser({
      email,
      password_hash: value('passwordhash'),
      display_name: nameOf(value('name') ?? value('displayname')),
      preferred_username: usernameOf(value('username'), email),
      email_verified: is('emailconfirmed'),
    }),
    // The keys of authenticator apps are in another table, so they are not imported.
    notes: is('twofactorenabled') ? (['second_factor_left'] as const) : [],
  };
}
