/** How often mail may be asked for, by address and by network address; unknown addresses count too. */
import type { RateLimits } from '@cardea/service';
import { LIMITS } from '../http/limits.ts';

export async function mailLimit(
  limits: RateLimits,
  of: { readonly tenantId: string; readonly emailHash: string; readonly ip: string },
): Promise<{ readonly retryAfterSeconds: number } | undefined> {
  const address = `${of.tenantId}:${of.emailHash}`;
  for (const [limit, key] of [
    [LIMITS.mailByIp, of.ip],
    [LIMITS.mailByAddressShort, address],
    [LIMITS.mailByAddressLong, address],
  ] as const) {
    const taken = await limits.take(limit, key);
    if (!taken.allowed) return taken;
  }
  return undefined;
}
