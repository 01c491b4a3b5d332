/**
 * Authenticates machines with the roles and scopes of their own streams, because those in a token may have been
 * withdrawn since.
 */
import type { Authenticator, ClientPrincipal } from '@cardea/auth';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import { applications } from './application.ts';

export const machineCallersByStream = (
  authenticator: Authenticator,
  { snapshots }: { readonly snapshots: Pick<SnapshotCache, 'load'> },
): Authenticator => ({
  ...authenticator,
  confirm: async (principal) => {
    const live = await authenticator.confirm(principal);
    return live?.kind === 'client' ? await asItIs(snapshots, live) : live;
  },
});

async function asItIs(
  snapshots: Pick<SnapshotCache, 'load'>,
  principal: ClientPrincipal,
): Promise<ClientPrincipal | undefined> {
  const { id, tenantId, issuedAt } = principal;
  const application = await snapshots.load(applications, { tenantId, id });
  if (application.status !== 'active' || issuedAt < application.tokensBefore) return undefined;
  const { roles, machine_scopes: scopes } = application;
  return {
    ...principal,
    roles: principal.roles.filter((role) => roles.includes(role)),
    scopes: principal.scopes.filter((scope) => (scopes as readonly string[]).includes(scope)),
  };
}
