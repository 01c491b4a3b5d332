/** Rotates tenants' keys by age, by use or on an operator's command, and re-encrypts their values. */
import type { ServiceDependencies } from '@cardea/service';
import { type Loop, sweeping } from '@cardea/service';
import {
  KEY_VALUES_MAX,
  type Progress,
  type Reencrypted,
  reencryptOldValues,
  rotateDueKeys,
} from '../adapters/data-key-rotation.ts';
import type { DataKeys } from '../adapters/data-keys.ts';

type RotationDependencies = Pick<ServiceDependencies, 'clock' | 'log' | 'database' | 'random'> & {
  readonly keys: DataKeys;
};

const EVERY_MS = 60 * 60_000;

export const keyRotation = (vault: RotationDependencies): Loop =>
  sweeping({
    name: 'vault-keys',
    everyMs: EVERY_MS,
    clock: vault.clock,
    sweep: (signal, tick) => rotateOnce(vault, { signal, tick }),
  });

export async function rotateOnce(
  vault: RotationDependencies,
  progress: Progress = {},
  valuesMax = KEY_VALUES_MAX,
): Promise<void> {
  const keys = await rotateDueKeys(vault, vault.clock.now(), valuesMax);
  if (keys > 0) vault.log.info({ keys }, 'keys of tenants were replaced');
  const { values, unreadable } = await reencryptOldValues(vault, progress);
  if (values > 0) vault.log.info({ values }, 'secrets were encrypted anew');
  if (unreadable > 0) vault.log.error({ unreadable }, 'secrets under an older key do not open');
}

/** Creates a new key at once and re-encrypts everything under it. Returns undefined if the tenant has no key here. */
export async function rotateKey(
  vault: RotationDependencies,
  tenantId: string,
): Promise<({ readonly version: number } & Reencrypted) | undefined> {
  const version = await newerKey(vault, tenantId);
  if (version === undefined) return undefined;
  return { version, ...(await reencryptOldValues(vault, { tenantId })) };
}

async function newerKey(
  vault: RotationDependencies,
  tenantId: string,
): Promise<number | undefined> {
  const newest = await vault.keys.newest(tenantId);
  return newest === undefined ? undefined : vault.keys.rotate(tenantId, newest, vault.clock.now());
}
