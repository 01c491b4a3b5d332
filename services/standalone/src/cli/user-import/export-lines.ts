/**
 * Reads JSON lines, each a user in the form of `GET /api/v1/admin/users/export?include=password_hash` or of `POST
 * /api/v1/admin/users/import`. The last line of an export has the number of users.
 */
import type { ImportedUser } from '@cardea/identity';
import { NotDone } from '../failures.ts';
import { type Fields, linesOf, objectIn, stringOf } from './file-text.ts';
import { foreignUser, importedUser, type ReadForeignUsers } from './foreign-user.ts';

const TAKEN = [
  'email',
  'password_hash',
  'firebase',
  'totp_secret',
  'display_name',
  'avatar_url',
  'locale',
  'preferred_username',
  'public_metadata',
  'private_metadata',
  'roles',
  'email_verified',
] as const satisfies readonly (keyof ImportedUser)[];

export const exportedUsers: ReadForeignUsers = async function* (chunks) {
  let count = 0;
  let isExport = false;
  let announced: unknown;
  for await (const { line, text } of linesOf(chunks)) {
    const fields = text === undefined ? undefined : objectIn(text);
    if (fields?.['end'] === true) {
      announced = fields['count'];
      continue;
    }
    count += 1;
    isExport ||= fields?.['created_at'] !== undefined && fields['vouched'] !== undefined;
    if (text === undefined) yield foreignUser(line, 'too_large');
    else yield foreignUser(line, fields === undefined ? 'unreadable' : readUser(fields));
  }
  // An export without its last line is incomplete. Files written by hand have no such line.
  const isCut = announced === undefined ? isExport : announced !== count;
  if (isCut)
    throw new NotDone('the file was cut: it has not the last line of an export, or not all users');
};

function readUser(fields: Fields) {
  if (stringOf(fields['email']) === undefined) return 'no_address';
  if (fields['status'] === 'disabled') return 'disabled';
  const user = Object.fromEntries(
    TAKEN.map((name) => [name, fields[name] ?? undefined] as const),
  ) as { readonly [field in keyof ImportedUser]: ImportedUser[field] };
  return {
    user: importedUser(user),
    notes: fields['mfa_enabled'] === true && fields['totp_secret'] === undefined ? LEFT : [],
  };
}

const LEFT = ['second_factor_left'] as const;
