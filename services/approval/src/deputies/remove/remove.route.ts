import type { Command } from '@cardea/event-store';
import { endpoint } from '@cardea/http';
import Type from 'typebox';
import { isImpersonated, NO_KEYS } from '../../requests/requests.module.ts';
import { DEPUTIES_TABLE } from '../deputies.projection.ts';
import { deputies, deputyIdOf } from '../deputy.ts';
import {
  DEPUTY_REFUSALS,
  type DeputyDependencies,
  OWN_DEPUTY,
  REMOVED,
  refusedToAct,
  removedShape,
  targetOf,
  userIdField,
} from '../deputy-shape.ts';
import { removeDeputy } from './remove.ts';

export const removeDeputyRoute = (dependencies: DeputyDependencies) =>
  endpoint(
    {
      ...OWN_DEPUTY,
      name: 'remove_approval_deputy',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Let nobody decide in the place of the caller any more',
      description:
        'Ends what the deputy of the caller may. What was made out to them meanwhile stays theirs to decide. Both are told by mail.',
      method: 'delete',
      ok: removedShape,
      refusals: { ...DEPUTY_REFUSALS, deputy_not_found: 404 },
      consistency: { waitsFor: [DEPUTIES_TABLE] },
    },
    async (request) => {
      const refused = await refusedToAct(dependencies, request);
      if (refused !== undefined) return { refused };
      return remove(dependencies, request.principal.id, await dependencies.command(request));
    },
  );

export const removeDeputyOfRoute = (dependencies: DeputyDependencies) =>
  endpoint(
    {
      tag: 'Approval deputies',
      name: 'remove_approval_deputy_of_user',
      machine: 'never',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'End the deputy of another user',
      description:
        'Ends what the deputy of that user may. What was made out to them meanwhile stays theirs to decide. Both are told by mail.',
      method: 'delete',
      path: '/api/v1/ciba/deputies/{user_id}',
      params: Type.Object({ user_id: userIdField }),
      who: ['admin'],
      notTaken: NO_KEYS,
      ok: removedShape,
      refusals: { forbidden: 403, deputy_not_found: 404 },
      consistency: { waitsFor: [DEPUTIES_TABLE] },
    },
    async (request) => {
      const { principal, params } = request;
      if (isImpersonated(principal)) return { refused: 'forbidden' };
      const actor = { type: 'admin', id: principal.id } as const;
      const command = await dependencies.command(request, { actor });
      return remove(dependencies, params.user_id, command);
    },
  );

async function remove({ streams }: DeputyDependencies, userId: string, command: Command) {
  const id = deputyIdOf({ tenantId: command.metadata.tenantId, userId });
  const decided = await streams.decideOn(deputies, id, command, (state) =>
    removeDeputy({ userId, now: command.now }, state),
  );
  if (!decided.accepted) return { refused: decided.reason, target: targetOf(userId) } as const;
  return { ok: REMOVED, wrote: decided.position };
}
