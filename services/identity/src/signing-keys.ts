/** The ring at work: made on the first start, read again now and then, signing with its active key. */
import {
  generateSigningKey,
  type PublicJwk,
  publicJwk,
  type SigningKey,
  type SignToken,
  signer,
} from '@cardea/auth';
import type { DerivedKeys, Sealer } from '@cardea/crypto';
import { accept, type Command, refuse, type Streams } from '@cardea/event-store';
import type { Logger } from '@cardea/runtime';
import { unwrapPrivateKey, wrapPrivateKey } from './adapters/wrapped-key.ts';
import {
  activeKey,
  addFirstKey,
  KEYRING,
  type Keyring,
  keyrings,
  type NewKey,
  published,
  type RingKey,
  replaceKey,
} from './keyring/keyring.ts';
import { announceKey, promoteKey } from './keyring/rotate/rotate.ts';
import { keyPlace } from './seals.ts';
import { DEPLOYMENT } from './workspaces.ts';

export type SigningKeys = {
  /** Makes or finds the active key. Before the first token is signed. */
  readonly start: () => Promise<void>;
  /** Reads the ring again, for what other replicas did to it. */
  readonly refresh: () => Promise<void>;
  readonly ring: () => Promise<Keyring>;
  /** Adds a key that everybody can fetch and that signs nothing yet; answers its id, or that of one that waits already. */
  readonly announce: (activateAt: Date) => Promise<string>;
  /** The announced key signs from now on; false when another process was faster. */
  readonly promote: (kid: string) => Promise<boolean>;
  readonly sign: SignToken;
  readonly jwks: () => { readonly keys: readonly PublicJwk[] };
};

type Needs = {
  readonly streams: Streams;
  readonly sealer: Sealer;
  readonly log: Logger;
  readonly kek: DerivedKeys;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

type InUse = { readonly key: SigningKey; readonly jwks: readonly PublicJwk[] };

export function signingKeys(needs: Needs): SigningKeys {
  const { streams } = needs;
  let inUse: InUse | undefined;

  const load = async (): Promise<Keyring> => {
    const { state } = await streams.load(keyrings, { tenantId: DEPLOYMENT, id: KEYRING });
    return state;
  };

  const put = async (ring: Keyring): Promise<void> => {
    const active = activeKey(ring);
    if (active === undefined) throw new Error('the key ring has no active key');
    if (inUse?.key.kid === active.kid) {
      inUse = { ...inUse, jwks: published(ring) };
      return;
    }
    const key = await opened(needs, active);
    if (key === undefined) {
      needs.log.error({ kid: active.kid }, 'a signing key cannot be read; another takes its place');
      await put(await replaced(needs, active.kid));
      return;
    }
    inUse = { key, jwks: published(ring) };
  };

  const current = (): InUse => {
    if (inUse === undefined) throw new Error('the signing keys were not started');
    return inUse;
  };

  return {
    start: async () => {
      const ring = await load();
      await put(activeKey(ring) === undefined ? await withFirstKey(needs) : ring);
    },
    refresh: async () => put(await load()),
    ring: load,
    announce: async (activateAt) => {
      const waiting = (await load()).keys.find(({ state }) => state === 'pending');
      return waiting?.kid ?? (await announced(needs, activateAt));
    },
    promote: async (kid) => {
      const command = needs.systemCommand(DEPLOYMENT, 'promote key', kid);
      const decided = await streams.decideOn(keyrings, KEYRING, command, (ring) =>
        promoteKey(kid, command.now, ring),
      );
      return decided.accepted;
    },
    sign: signer({ active: () => current().key }),
    jwks: () => ({ keys: current().jwks }),
  };
}

async function withFirstKey(needs: Needs): Promise<Keyring> {
  const pair = generateSigningKey();
  const key = await sealedKey(needs, pair);
  const command = needs.systemCommand(DEPLOYMENT, 'first key', pair.kid);
  const decided = await needs.streams.decideOn(keyrings, KEYRING, command, (ring) =>
    addFirstKey(key, command.now, ring),
  );
  return decided.state;
}

async function replaced(needs: Needs, lostKid: string): Promise<Keyring> {
  const pair = generateSigningKey();
  const key = await sealedKey(needs, pair);
  const command = needs.systemCommand(DEPLOYMENT, 'replace key', lostKid, pair.kid);
  const decided = await needs.streams.decideOn(keyrings, KEYRING, command, (ring) =>
    replaceKey(lostKid, key, command.now, ring),
  );
  return decided.state;
}

async function announced(needs: Needs, activateAt: Date): Promise<string> {
  const pair = generateSigningKey();
  const key = await sealedKey(needs, pair);
  const command = needs.systemCommand(DEPLOYMENT, 'announce key', pair.kid);
  const decided = await needs.streams.decideOn(keyrings, KEYRING, command, (ring) =>
    announceKey(key, activateAt, ring),
  );
  const waiting = decided.state.keys.find(({ state }) => state === 'pending');
  if (waiting === undefined) throw new Error('the key ring takes no key');
  return waiting.kid;
}

/** Sealed twice: by the deployment's secret, then under a row whose deletion erases it from the log. */
async function sealedKey({ kek, sealer }: Needs, pair: SigningKey): Promise<NewKey> {
  const wrapped = wrapPrivateKey(kek.current, pair);
  return {
    kid: pair.kid,
    publicJwk: publicJwk(pair.privateKey),
    private: await sealer.seal(DEPLOYMENT, keyPlace(pair.kid), wrapped),
  };
}

/** Under the previous secret it is read, and sealed again under the current one. */
async function opened(needs: Needs, key: RingKey): Promise<SigningKey | undefined> {
  const { sealer, kek } = needs;
  const wrapped = await sealer.open(key.private, keyPlace(key.kid));
  if (wrapped === null) return undefined;
  const readable = unwrapPrivateKey(kek.current, key.kid, wrapped);
  if (readable !== undefined || kek.previous === undefined) return readable;
  const old = unwrapPrivateKey(kek.previous, key.kid, wrapped);
  if (old !== undefined) await reseal(needs, old);
  return old;
}

async function reseal(needs: Needs, pair: SigningKey): Promise<void> {
  const { kid } = pair;
  const { private: sealed } = await sealedKey(needs, pair);
  const command = needs.systemCommand(DEPLOYMENT, 'reseal key', kid, sealed.box);
  await needs.streams.decideOn(keyrings, KEYRING, command, (ring) =>
    activeKey(ring)?.kid === kid
      ? accept({ type: 'KeyResealed', data: { kid, private: sealed } })
      : refuse('not_active'),
  );
}
