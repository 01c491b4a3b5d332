/**
 * Finds why the import would refuse a user of a file, as far as this can be checked without a deployment. Only the
 * deployment knows a tenant's roles, which of them the caller may give, and which addresses are taken.
 */
import { rankOf } from '../../../ranks/ranks.ts';
import { type ImportedUser, type ImportFault, readUsers } from './import-users.ts';

export type CheckImport = (
  user: ImportedUser,
) => { readonly email: string } | { readonly refused: ImportFault };

type Dependencies = Pick<
  Parameters<typeof readUsers>[1],
  'readHash' | 'readTotpSecret' | 'toAscii'
>;

const by = { rank: rankOf(['system_admin']), isKey: false };

export const checkImportWith =
  (deps: Dependencies): CheckImport =>
  (user) => {
    if (typeof user.email !== 'string') return { refused: 'invalid_email' };
    const settings = { roles: user.roles ?? [] };
    try {
      const [read] = readUsers([user], { ...deps, by, settings });
      return read === undefined || typeof read === 'string'
        ? { refused: read ?? 'invalid_request' }
        : { email: read.email };
    } catch {
      // A field does not have the type that the import requires.
      return { refused: 'invalid_request' };
    }
  };
