import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { WRITES } from '../../administration.ts';
import type { Epochs } from '../../epochs.ts';
import { grantKeys } from '../grant-key.ts';
import { agentOnly, findGrant, grantsAreLevel } from '../grant-list.ts';
import { revokeGrant } from './revoke.ts';

type RevokeDependencies = Pick<
  ServiceDependencies,
  'streams' | 'command' | 'database' | 'positions' | 'store' | 'clock'
> & { readonly epochs: Epochs };

export const revokeGrantRoute = (vault: RevokeDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'revoke_grant',
      machine: 'vault:write',
      access: { class: 'things', applicationScope: 'roles' },
      repeat: 'safe',
      summary: 'End a grant; it is not handed out again',
      description:
        'Ends a grant: its values are not handed out again under it. An agent that has seen a value still knows it, so change it at its origin, too. An agent may revoke its own grants.',
      method: 'delete',
      path: '/api/v1/vault/grants/{id}',
      who: [...WRITES, 'agent_key'],
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      ok: Type.Object({ status: Type.Literal('revoked') }),
      refusals: { grant_not_found: 404 },
      consistency: { waitsFor: ['grants'] },
    },
    async (request) => {
      const { tenantId, params, principal } = request;
      await grantsAreLevel(vault);
      const filter = {
        tenantId,
        now: vault.clock.now(),
        grantId: params.id,
        ownAgentId: agentOnly(principal),
      };
      const row = await findGrant(vault.database.tenant(tenantId), filter);
      if (row === undefined) return { refused: 'grant_not_found' };
      const ok = { status: 'revoked' as const };
      if (row.revoked_at !== null) return { ok };
      const command = await vault.command(request);
      const cause = principal.kind === 'agent' ? 'agent' : 'admin';
      const decided = await vault.streams.decideOn(grantKeys, row.slot, command, (grantKey) =>
        revokeGrant({ grantId: row.grant_id, cause, now: command.now }, grantKey),
      );
      await vault.epochs.changed(tenantId);
      return { ok, wrote: decided.position };
    },
  );
