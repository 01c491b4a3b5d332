/** Checks what a search must leave unchanged. */
import type { Fortress } from './fortress.ts';
import { PASSWORD, type Person } from './users.ts';

/** The users and objects that a search must not harm. */
export type Victims = {
  readonly users: readonly Person[];
  readonly agentIds: readonly string[];
  /** Further targets: ids by collection, and addresses that nobody has yet. */
  readonly ids?: { readonly [collection: string]: readonly string[] };
  readonly emails?: readonly string[];
};

/** Returns what has happened to users who existed before and must not have happened. */
export async function harmTo(
  { rest, a, logIn }: Fortress,
  { users }: Victims,
): Promise<readonly string[]> {
  const admin = rest.as({ bearer: a.owner.access, tenant: a.tenantId });
  const harm: string[] = [];
  for (const person of users) {
    const { status, body } = await admin.get(`/api/v1/admin/users/${person.userId}`);
    const isMember = person.roles.every((role) => role === 'member');
    if (status !== 200 || body.status !== 'active') {
      if (!isMember) harm.push('closed or deleted an administrator');
      continue;
    }
    if (body.roles.join() !== person.roles.join()) harm.push('changed roles');
    if (body.email !== person.email) harm.push('changed an address');
    if (body.vouched !== true) harm.push('took back a vouch');
    await logIn(person).catch(() => harm.push(`changed a password that was ${PASSWORD}`));
  }
  return harm;
}
