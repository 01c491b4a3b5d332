/** Passes a refusal of a known caller to the service that records it. */

import type { OwnDenial } from './own-denial.ts';
import type { Call } from './pipeline/call.ts';
import type { Route } from './pipeline/route.ts';
import type { Denial } from './refusals/denials.ts';

/** A denial is a separate command, so its id differs from the request's. */
export async function recordDenial(
  { group }: Route,
  { parts }: Call,
  of: {
    readonly denial: OwnDenial;
    readonly target?: Denial['target'] | undefined;
    readonly request: Denial['request'];
  },
): Promise<void> {
  if (group.denials === undefined) return;
  const { principal } = of.denial;
  const { tenantId } = principal;
  const commandId = parts.ids.next();
  const request = { ...of.request, principal, tenantId, commandId };
  await group.denials.record({ ...of.denial, target: of.target ?? null, request });
}
