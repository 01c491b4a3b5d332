/** Whether a new password is one of the account's last passwords. */
import type { Sealer } from '@cardea/crypto';
import { userField } from '../../streams/encrypted-fields.ts';
import type { PasswordPolicy } from '../../workspaces/workspaces.module.ts';
import type { ExistingUser } from '../users/user.ts';
import type { Passwords } from './passwords.ts';

/** `history` is the number of passwords to compare, including the current one. */
export async function isReusedPassword(
  {
    sealer,
    passwords,
  }: { readonly sealer: Pick<Sealer, 'open'>; readonly passwords: Pick<Passwords, 'matches'> },
  of: {
    readonly user: Pick<ExistingUser, 'id' | 'passwordHash' | 'passwordsBefore'>;
    readonly password: string;
    readonly policy: Pick<PasswordPolicy, 'history'>;
    readonly tenantId: string;
  },
): Promise<boolean> {
  const { user, password, policy, tenantId } = of;
  const known = user.passwordHash === null ? [] : [user.passwordHash];
  for (const sealed of [...known, ...user.passwordsBefore].slice(0, policy.history)) {
    const phc = await sealer.open(sealed, userField(user.id, 'password_hash'));
    if (phc !== null && (await passwords.matches(phc, password, tenantId))) return true;
  }
  return false;
}
