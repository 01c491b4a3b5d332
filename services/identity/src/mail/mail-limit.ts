/**
 * How often mail may be asked for; unknown addresses count too. Strangers have a budget of their own for an
 * address, each network a part of it, so that they use up neither that of the person nor of administrators.
 */
import { networkOf } from '@cardea/http';
import type { Charge, ServiceDependencies } from '@cardea/service';
import { LIMITS } from '../http/limits.ts';
import { clearingsOf, isTrusted, signins } from '../streams/signin.ts';

export type LimitedMail = {
  readonly tenantId: string;
  readonly emailHash: string;
  readonly ip: string;
  /** `anyone` says whose address it is, and proves nothing. */
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
  // An administrator who unlocks the person begins new counters.
  const key = `${address} ${clearingsOf(state)}`;
  if (by === 'session') return own(`${key} session`);
  const prefix = await sealer.indexHash({ tenantId }, 'network', networkOf(ip));
  const network = own(`${key} ${prefix}`);
  return isTrusted(state, prefix) ? network : [...network, [LIMITS.mailByStrangers, key]];
}
