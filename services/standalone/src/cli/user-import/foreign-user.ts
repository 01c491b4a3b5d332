/** One user of another product's file: the fields for the import, or the reason why the user is not imported. */
import type { ImportedUser } from '@cardea/identity';

/**
 * `no_address`: the user could not sign in. `disabled`: the sign-in was blocked there, so it is not enabled here.
 * `not_a_user`: the account of a service, or a record of another kind.
 */
export type FileRefusal =
  | 'disabled'
  | 'no_address'
  | 'not_a_user'
  | 'too_large'
  | 'unreadable'
  | 'unsupported_hash';
/** Data of an imported user that is not imported. */
export type FileNote = 'second_factor_left';

export type ForeignUser =
  | { readonly line: number; readonly user: ImportedUser; readonly notes: readonly FileNote[] }
  | { readonly line: number; readonly refused: FileRefusal };

export type ReadForeignUsers = (chunks: AsyncIterable<string>) => AsyncIterable<ForeignUser>;

type Read = { readonly user: ImportedUser; readonly notes?: readonly FileNote[] } | FileRefusal;

export const foreignUser = (line: number, read: Read): ForeignUser =>
  typeof read === 'string'
    ? { line, refused: read }
    : { line, user: read.user, notes: read.notes ?? [] };

/** Names are truncated rather than refused, because nothing identifies users by them. */
const NAME_CHARACTERS_MAX = 128;
const USERNAME_CHARACTERS_MAX = 64;

export const nameOf = (...parts: readonly (string | undefined)[]): string | undefined => {
  const name = parts
    .map((part) => part?.trim() ?? '')
    .filter((part) => part !== '')
    .join(' ');
  return name === '' ? undefined : cut(name, NAME_CHARACTERS_MAX);
};

/** A username that equals the address adds nothing, so it is dropped. */
export const usernameOf = (name: string | undefined, email: string): string | undefined =>
  name === undefined || name.trim().toLowerCase() === email.trim().toLowerCase()
    ? undefined
    : cut(name.trim(), USERNAME_CHARACTERS_MAX);

const cut = (text: string, max: number): string => [...text].slice(0, max).join('');

/** Removes undefined members, because the API refuses unknown ones. */
export const importedUser = (
  user: {
    readonly [field in keyof ImportedUser]: ImportedUser[field] | undefined;
  },
): ImportedUser =>
  Object.fromEntries(
    Object.entries(user).filter(([, value]) => value !== undefined),
  ) as ImportedUser;
