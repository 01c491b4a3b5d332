/** Records uses of keys. It reads the stream no more often than a use may be recorded. */
import { expiringCache } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { keyUses, noteUse, USE_REPORTED_EVERY_MS } from './key-use.ts';

const NOTED_KEYS_MAX = 10_000;

export type NoteUse = (of: {
  readonly id: string;
  readonly kind: 'svc' | 'agk';
  readonly tenantId: string;
}) => Promise<void>;

export function notedUses({
  streams,
  clock,
  systemCommand,
  ids,
}: Pick<ServiceDependencies, 'streams' | 'clock' | 'systemCommand' | 'ids'>): NoteUse {
  const noted = expiringCache<string, true>(clock, {
    entriesMax: NOTED_KEYS_MAX,
    ttlMs: USE_REPORTED_EVERY_MS,
  });
  return async ({ id, kind, tenantId }) => {
    if (noted.get(id) === true) return;
    noted.set(id, true);
    const command = systemCommand(tenantId, 'key used', id, ids.next());
    const use = { id, kind, now: command.now };
    await streams.decideOn(keyUses, id, command, (state) => noteUse(use, state));
  };
}
