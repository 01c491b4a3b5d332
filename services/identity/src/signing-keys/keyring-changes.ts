/**
 * Changes of one algorithm's key ring. Each append names the revision on which it was decided. If two replicas decide
 * at the same time, one appends and the other decides again.
 */
import { DEPLOYMENT_TENANT } from '@cardea/contracts';
import { accept, type Command, type Decision, refuse, type Streams } from '@cardea/event-store';
import { type Clock, uuidFrom } from '@cardea/runtime';
import type { KeyAlgorithm } from '../adapters/key-algorithms.ts';
import {
  activeKey,
  addFirstKey,
  KEYRINGS,
  type Keyring,
  type KeyringEvent,
  keyrings,
  type NewKey,
  pendingKey,
  replaceKey,
} from './keyring.ts';
import type { PrivateHalves } from './private-halves.ts';
import { revokeOthers } from './revoke/revoke.ts';
import { announceKey, promoteKey } from './rotate/rotate.ts';
import { isAnnouncementDue, keepSchedule } from './rotate/schedule.ts';

export type KeyringTools = {
  readonly algorithm: KeyAlgorithm;
  readonly streams: Streams;
  readonly halves: PrivateHalves;
  readonly clock: Pick<Clock, 'now'>;
  readonly rotateAfterMs: number;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

export async function loadKeyring({ streams, algorithm }: KeyringTools): Promise<Keyring> {
  const id = KEYRINGS[algorithm];
  return (await streams.load(keyrings, { tenantId: DEPLOYMENT_TENANT, id })).state;
}

const decide = <Reason extends string>(
  { streams, algorithm }: KeyringTools,
  command: Command,
  decision: (ring: Keyring) => Decision<KeyringEvent, Reason>,
) => streams.decideOn(keyrings, KEYRINGS[algorithm], command, decision);

/** The command of a request, or the service's own. Its id differs from other commands of the same request. */
const own = (
  { systemCommand, algorithm }: KeyringTools,
  command: Command | undefined,
  ...parts: string[]
): Command =>
  command === undefined
    ? systemCommand(DEPLOYMENT_TENANT, algorithm, ...parts)
    : { ...command, id: uuidFrom(command.id, algorithm, ...parts) };

const holds = ({ keys }: Keyring, kid: string): boolean => keys.some((key) => key.kid === kid);

/** Returns whether something was due and was done. */
export async function keptKeyring(tools: KeyringTools): Promise<boolean> {
  const { clock, rotateAfterMs, halves, algorithm } = tools;
  const schedule = { now: clock.now(), rotateAfterMs };
  const ring = await loadKeyring(tools);
  const next = isAnnouncementDue(ring, schedule) ? await halves.fresh(algorithm) : undefined;
  if (!keepSchedule(next, schedule, ring).accepted) return false;
  const command = own(tools, undefined, 'schedule', next?.kid ?? '', schedule.now.toISOString());
  const decided = await decide(tools, command, (now) => keepSchedule(next, schedule, now));
  if (next !== undefined && !holds(decided.state, next.kid)) await halves.discard(next.kid);
  return decided.accepted;
}

/** Returns the id of the pending key: the one just announced, or one that was pending before. */
export async function announcedKey(
  tools: KeyringTools,
  activateAt: Date,
  of?: Command,
): Promise<string> {
  const before = pendingKey(await loadKeyring(tools));
  if (before !== undefined) return before.kid;
  const key = await tools.halves.fresh(tools.algorithm);
  const command = own(tools, of, 'announce key', key.kid);
  const decided = await decide(tools, command, (ring) =>
    announceKey(key, { now: command.now, activateAt }, ring),
  );
  if (!holds(decided.state, key.kid)) await tools.halves.discard(key.kid);
  const waiting = pendingKey(decided.state);
  if (waiting === undefined) throw new Error('the key ring takes no key');
  return waiting.kid;
}

/** Returns false if another key was promoted. */
export async function promotedKey(
  tools: KeyringTools,
  kid: string,
  of?: Command,
): Promise<boolean> {
  const command = own(tools, of, 'promote key', kid);
  const decided = await decide(tools, command, (ring) => promoteKey(kid, command.now, ring));
  // The schedule may have promoted the key first.
  return activeKey(decided.state)?.kid === kid;
}

/** Adds the new key, which was generated before and signs at once. Returns the ids of the removed keys. */
export async function revokedKeys(
  tools: KeyringTools,
  key: NewKey,
  of?: Command,
): Promise<readonly string[]> {
  const command = own(tools, of, 'revoke keys', key.kid);
  const decided = await decide(tools, command, (ring) => revokeOthers(key, command.now, ring));
  if (!decided.accepted) throw new Error('the key ring has no active key');
  return decided.events.flatMap(({ type, data }) => (type === 'KeyRemoved' ? [data.kid] : []));
}

/** Returns the ring with an active key. If two processes start at once, both use the key of the first. */
export async function keyringWithKey(tools: KeyringTools): Promise<Keyring> {
  const ring = await loadKeyring(tools);
  if (activeKey(ring) !== undefined) return ring;
  const key = await tools.halves.fresh(tools.algorithm);
  const command = own(tools, undefined, 'first key', key.kid);
  const decided = await decide(tools, command, (now) => addFirstKey(key, command.now, now));
  if (!holds(decided.state, key.kid)) await tools.halves.discard(key.kid);
  return decided.state;
}

export async function keyringWithout(tools: KeyringTools, lostKid: string): Promise<Keyring> {
  const key = await tools.halves.fresh(tools.algorithm);
  const command = own(tools, undefined, 'replace key', lostKid, key.kid);
  const decided = await decide(tools, command, (ring) =>
    replaceKey(lostKid, key, command.now, ring),
  );
  return decided.state;
}

/**
 * Returns the number of keys that were encrypted again. Retired keys no longer sign, so they are not encrypted again.
 */
export async function resealedKeys(tools: KeyringTools): Promise<number> {
  let count = 0;
  for (const key of (await loadKeyring(tools)).keys.filter(({ state }) => state !== 'retired')) {
    const opened = await tools.halves.open(key);
    if (opened.under !== 'previous') continue;
    const sealed = await tools.halves.seal(opened.pair);
    if (sealed === 'erased') continue; // The key was removed in the meantime.
    const command = own(tools, undefined, 'reseal key', key.kid, sealed.box);
    await decide(tools, command, (ring) =>
      holds(ring, key.kid)
        ? accept({ type: 'KeyResealed', data: { kid: key.kid, private: sealed } })
        : refuse('removed'),
    );
    count += 1;
  }
  return count;
}
