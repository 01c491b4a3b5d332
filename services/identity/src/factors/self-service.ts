/** Functions that the endpoints for a user's own second factors share. */
import type { Request } from '@cardea/http';
import type { RateLimits } from '@cardea/service';
import { tooOften } from '../http/answers.ts';
import { LIMITS } from '../http/limits.ts';
import type { TenantFacts } from '../workspaces/workspaces.module.ts';

export const isOff = ({ settings }: TenantFacts): boolean => settings.mfa_policy === 'disabled';

/** Verifies the first code of an app that a user enrols. Wrong codes are counted. */
export async function counted<Tried extends { readonly isWrong: boolean }>(
  limits: Pick<RateLimits, 'attempt'>,
  { ip }: Pick<Request<unknown, unknown, unknown>, 'ip'>,
  of: { readonly tenantId: string; readonly userId: string; readonly tried: () => Promise<Tried> },
): Promise<Tried | ReturnType<typeof tooOften>> {
  const charges = [
    [LIMITS.codeFailuresByIp, ip],
    [LIMITS.enrolmentFailuresByUser, `${of.tenantId}:${of.userId}`],
  ] as const;
  const made = await limits.attempt(charges, of.tried, ({ isWrong }) => !isWrong);
  return made.allowed ? made.answer : tooOften(made);
}
