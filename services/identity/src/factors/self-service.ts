/** What the endpoints on a user's own second factors have in common. */
import type { Request } from '@cardea/http';
import type { RateLimits } from '@cardea/service';
import { tooOften, USERS_ONLY } from '../http/answers.ts';
import { LIMITS } from '../http/limits.ts';
import type { TenantFacts } from '../workspaces/workspaces.module.ts';

export const COMMON = {
  tag: 'Self-service',
  who: ['user'],
  applicationScope: 'account',
  tenant: 'optional',
  area: 'user',
  notTaken: USERS_ONLY,
} as const;

export const isOff = ({ settings }: TenantFacts): boolean => settings.mfa_policy === 'disabled';

/**
 * Tries a code of a user: counted before it is looked at and given back when it was right, so that of many
 * at once no more than the limit are looked at.
 */
export async function counted<Tried extends { readonly isWrong: boolean }>(
  limits: Pick<RateLimits, 'look' | 'take'>,
  { ip }: Pick<Request<unknown, unknown, unknown>, 'ip'>,
  of: { readonly tenantId: string; readonly userId: string; readonly tried: () => Promise<Tried> },
): Promise<Tried | ReturnType<typeof tooOften>> {
  const byIp = await limits.look(LIMITS.codeFailuresByIp, ip);
  if (!byIp.allowed) return tooOften(byIp);
  const key = `${of.tenantId}:${of.userId}`;
  const byUser = await limits.take(LIMITS.secondFactorFailuresByUser, key);
  if (!byUser.allowed) return tooOften(byUser);
  const tried = await of.tried();
  if (tried.isWrong) await limits.take(LIMITS.codeFailuresByIp, ip);
  else await byUser.giveBack();
  return tried;
}
