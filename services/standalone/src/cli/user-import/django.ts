/**
 * Reads `python manage.py dumpdata auth.User`: a list of `{model, pk, fields}`. A custom user model that extends
 * AbstractUser has the same fields.
 */
import { fieldsOf, objectIn, stringOf } from './file-text.ts';
import {
  foreignUser,
  importedUser,
  nameOf,
  type ReadForeignUsers,
  usernameOf,
} from './foreign-user.ts';
import { jsonElements } from './json-elements.ts';

/** The prefix of passwords with which nobody can sign in. */
const UNUSABLE = '!';

export const djangoUsers = (of: { readonly areVerified: boolean }): ReadForeignUsers =>
  async function* (chunks) {
    for await (const { line, text } of jsonElements(chunks, 'whole file')) {
      yield foreignUser(line, text === undefined ? 'too_large' : readUser(text, of));
    }
  };

function readUser(text: string, { areVerified }: { readonly areVerified: boolean }) {
  const fields = fieldsOf(objectIn(text)?.['fields']);
  if (fields === undefined) return 'unreadable';
  const { password, is_active: isActive, first_name: first, last_name: last, username } = fields;
  if (typeof password !== 'string') return 'not_a_user';
  const email = stringOf(fields['email']);
  if (email === undefined) return 'no_address';
  if (isActive === false) return 'disabled';
  const hash = password === '' || password.startsWith(UNUSABLE) ? undefined : password;
  return {
    user: importedUser({
      email,
      password_hash: hash,
      display_name: nameOf(stringOf(first), stringOf(last)),
      preferred_username: usernameOf(stringOf(username), email),
      email_verified: areVerified ? true : undefined,
    }),
  };
}
