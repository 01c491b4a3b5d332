/**
 * Limits how often mail may be requested, for unknown addresses too. Anonymous requests have a separate budget per
 * address, and each network has a part of it. So they use up neither the person's own budget nor the administrators'.
 */
import { networkOf } from '@cardea/http';
import type { Charge, ServiceDependencies } from '@cardea/service';
import { LIMITS } from '../http/limits.ts';
import { clearingsOf, isTrusted, signins } from '../streams/signin.ts';

export type LimitedMail = {
  readonly tenantId: string;
  readonly emailHash: string;
  readonly ip: string;
  /** `anyone` enters an address and proves nothing. */
  readonly by: 'administrator' | 'session' | 'anyone';
};

export async function mailLimit(
  needs: Pick<ServiceDependencies, 'limits' | 'sealer' | 'streams'>,
  of: LimitedMail,
): Promise<{ readonly retryAfterSeconds: number } | undefined> {
  const taken = await needs.limits.take([LIMITS.mailByIp, of.ip], ...(await ofAddress(needs, of)));
  return taken.allowed ? undefined : taken;
}

async function ofAddress(
  { sealer, streams }: Pick<ServiceDependencies, 'sealer' | 'streams'>,
  { tenantId, emailHash, ip, by }: LimitedMail,
): Promise<readonly Charge[]> {
  const own = (key: string): readonly Charge[] => [
    [LIMITS.mailByAddressShort, key],
    [LIMITS.mailByAddressLong, key],
  ];
  const address = `${tenantId}:${emailHash}`;
  if (by === 'administrator') return own(`${address} administrator`);
  const { state } = await streams.load(signins, { tenantId, id: emailHash });
  // When an administrator unlocks the person, new counters begin.
  const key = `${address} ${clearingsOf(state)}`;
  if (by === 'session') return own(`${key} session`);
  const prefix = await sealer.indexHash({ tenantId }, 'network', networkOf(ip));
  const network = own(`${key} ${prefix}`);
  return isTrusted(state, prefix) ? network : [...network, [LIMITS.mailByStrangers, key]];
}
