import { endpoint } from '@cardea/http';
import Type from 'typebox';
import { deputies, deputyIdOf, presentDeputy } from '../deputy.ts';
import {
  DEPUTY_REFUSALS,
  type DeputyDependencies,
  deputyShape,
  OWN_DEPUTY,
  refusedToAct,
  shownDeputy,
} from '../deputy-shape.ts';

export const getDeputyRoute = (dependencies: DeputyDependencies) =>
  endpoint(
    {
      ...OWN_DEPUTY,
      name: 'get_approval_deputy',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'Who decides in the place of the caller',
      description:
        'Shows who decides in the place of the caller, and when; `deputy` is null where nobody does or will.',
      method: 'get',
      ok: Type.Object(
        { deputy: Type.Union([deputyShape, Type.Null()]) },
        { additionalProperties: false },
      ),
      refusals: DEPUTY_REFUSALS,
    },
    async (request) => {
      const refused = await refusedToAct(dependencies, request);
      if (refused !== undefined) return { refused };
      const { tenantId, principal } = request;
      const id = deputyIdOf({ tenantId, userId: principal.id });
      const { state } = await dependencies.streams.load(deputies, { tenantId, id });
      const standing = presentDeputy(state, dependencies.clock.now());
      const deputy =
        standing === undefined ? null : await shownDeputy(dependencies, tenantId, standing);
      return { ok: { deputy } };
    },
  );
