import { Time } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import Type, { type Static } from 'typebox';
import { userValidity } from '../../requests/requests.module.ts';
import { DEPUTIES_TABLE } from '../deputies.projection.ts';
import { type Deputyship, deputies, deputyIdOf } from '../deputy.ts';
import {
  DEPUTY_REFUSALS,
  type DeputyDependencies,
  deputyShape,
  OWN_DEPUTY,
  refusedToAct,
  shownDeputy,
  targetOf,
  userIdField,
} from '../deputy-shape.ts';
import { DAY_MS, DEPUTY_AHEAD_DAYS_MAX, DEPUTY_DAYS_MAX } from '../limits.ts';
import { setDeputy } from './set.ts';

const body = Type.Object({ user_id: userIdField, from: Type.Optional(Time), until: Time });

export const setDeputyRoute = (dependencies: DeputyDependencies) =>
  endpoint(
    {
      ...OWN_DEPUTY,
      name: 'set_approval_deputy',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Let somebody decide in the place of the caller for a while',
      description:
        'Names who decides in the place of the caller from `from`, now unless stated, until `until`, at most 90 days. What is asked of the caller in that time is made out to the deputy; what waits already stays with the caller. The deputy has to be another user, active and vouched for, when they are named and when something is asked. Requests to sets, what is escalated to the caller, and what the caller asks of themselves have no deputy, nor has the deputy one for them. Both are told by mail.',
      method: 'put',
      body,
      ok: Type.Object({ deputy: deputyShape }, { additionalProperties: false }),
      refusals: { ...DEPUTY_REFUSALS, invalid_request: 400, deputy_not_possible: 422 },
      consistency: { waitsFor: [DEPUTIES_TABLE] },
    },
    async (request) => {
      const refused = await refusedToAct(dependencies, request);
      if (refused !== undefined) return { refused };
      const { tenantId, principal, body } = request;
      const { id: userId } = principal;
      const command = await dependencies.command(request);
      const deputyship = deputyshipOf(body, command.now);
      const details = faultsOf(deputyship, command.now);
      if (details.length > 0) return { refused: 'invalid_request', details };
      if (!(await isPossible(dependencies, { tenantId, userId, deputy: body.user_id }))) {
        return { refused: 'deputy_not_possible', target: targetOf(userId) };
      }
      const id = deputyIdOf({ tenantId, userId });
      const decided = await dependencies.streams.decideOn(deputies, id, command, (state) =>
        setDeputy({ userId, deputyship, now: command.now }, state),
      );
      const deputy = await shownDeputy(dependencies, tenantId, decided.state ?? deputyship);
      return { ok: { deputy }, wrote: decided.position };
    },
  );

/** A start in the past is replaced by the current time. */
function deputyshipOf({ user_id, from, until }: Static<typeof body>, now: Date): Deputyship {
  const begins = from === undefined ? now : new Date(Math.max(Date.parse(from), now.getTime()));
  return { deputy: user_id, from: begins.toISOString(), until: new Date(until).toISOString() };
}

function faultsOf(
  { from, until }: Deputyship,
  now: Date,
): readonly { readonly field: string; readonly rule: string }[] {
  const [begins, ends] = [Date.parse(from), Date.parse(until)];
  if (ends <= begins) return [{ field: 'until', rule: 'after_from' }];
  if (ends - begins > DEPUTY_DAYS_MAX * DAY_MS) return [{ field: 'until', rule: 'too_long' }];
  const isFarAhead = begins - now.getTime() > DEPUTY_AHEAD_DAYS_MAX * DAY_MS;
  return isFarAhead ? [{ field: 'from', rule: 'too_far' }] : [];
}

/** Whether the user may be a deputy. An unknown user counts as not vouched for. */
async function isPossible(
  dependencies: DeputyDependencies,
  of: { readonly tenantId: string; readonly userId: string; readonly deputy: string },
): Promise<boolean> {
  const { tenantId, userId, deputy } = of;
  if (deputy === userId) return false;
  const { isActive, isVouched } = await userValidity(
    dependencies,
    { tenantId, userId: deputy },
    true,
  );
  return isActive && isVouched;
}
