/**
 * Creates and verifies passkeys of users. Verification removes the challenge from the cache, so it can be answered only
 * once. A factor's id is derived from its credential, so no table is needed to find its owner.
 */
import type { Sealer } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import { type Cache, type Ids, type Random, type Settings, uuidFrom } from '@cardea/runtime';
import { type ExistingUser, users } from '../accounts/accounts.module.ts';
import {
  creationOptions,
  madePasskey,
  type PasskeyCredential,
  type RelyingParty,
  requestOptions,
  shownPasskey,
} from '../adapters/webauthn.ts';
import { factorField } from '../streams/encrypted-fields.ts';
import type { TenantFacts } from '../workspaces/workspaces.module.ts';
import { addFactor } from './factors/add-factor.ts';
import { factors, type PasskeyFacts } from './factors/factor.ts';
import { enrolPasskey, usePasskey } from './factors/passkeys/passkeys.ts';

const CHALLENGE_MS = 5 * 60_000;
const CHALLENGE_BYTES = 32;

export type Challenge = { readonly challengeId: string; readonly options: object };
export type Answered = { readonly challengeId: string; readonly response: object };

type AddRefusal = 'invalid_passkey' | 'challenge_expired' | 'not_found' | 'too_many_factors';

export type Passkeys = {
  readonly creation: (
    of: { readonly user: ExistingUser; readonly account: string },
    tenant: TenantFacts,
  ) => Promise<Challenge>;
  readonly add: (
    of: Answered & { readonly user: ExistingUser; readonly name: string | null },
    tenant: TenantFacts,
    command: Command,
  ) => Promise<
    | { readonly passkey: PasskeyFacts; readonly position: bigint | undefined }
    | { readonly refused: AddRefusal }
  >;
  /** Asks one user for a passkey. Without a user, any passkey of the tenant's domain is accepted. */
  readonly request: (user: ExistingUser | null, tenant: TenantFacts) => Promise<Challenge>;
  /** Returns the owner of the passkey. The reason of a failure is not returned. */
  readonly look: (
    of: Answered,
    tenant: TenantFacts,
  ) => Promise<ShownPasskey | InvalidPasskey | 'expired'>;
  /** Records the use. Returns false if the passkey is not one of the account's, or if its counter did not rise. */
  readonly use: (shown: ShownPasskey, user: ExistingUser, command: Command) => Promise<boolean>;
};

/** The user to whom the presented passkey claims to belong. Null if it belongs to no user. */
export type InvalidPasskey = { readonly invalid: true; readonly userId: string | null };

export type ShownPasskey = {
  readonly userId: string;
  readonly factorId: string;
  readonly counter: number;
  readonly backedUp: boolean;
};

type Dependencies = {
  readonly cache: Pick<Cache, 'set' | 'take'>;
  readonly streams: Streams;
  readonly sealer: Sealer;
  readonly ids: Ids;
  readonly random: Random;
  readonly settings: Pick<Settings, 'ISSUER' | 'PUBLIC_URL'>;
};

type Pending = {
  readonly tenantId: string;
  readonly challenge: string;
  /** Set if a passkey is to be created. */
  readonly making: { readonly userId: string; readonly userHandle: string } | null;
};

export function passkeys(needs: Dependencies): Passkeys {
  const { cache, streams, random, settings, ids } = needs;
  const store = credentialStore(needs);
  const begin = async (pending: Pending): Promise<string> => {
    const challengeId = ids.next();
    await cache.set(keyOf(challengeId), JSON.stringify(pending), CHALLENGE_MS);
    return challengeId;
  };
  const taken = async (challengeId: string, tenantId: string): Promise<Pending | undefined> => {
    const text = await cache.take(keyOf(challengeId));
    const pending: Pending | undefined = text === undefined ? undefined : JSON.parse(text);
    return pending?.tenantId === tenantId ? pending : undefined;
  };

  return {
    creation: async ({ user, account }, tenant) => {
      const challenge = random.bytes(CHALLENGE_BYTES);
      const existing = await store.credentialsOf(user, tenant.id);
      const userHandle = await handleOf(needs, { user, tenant, existing });
      const made = { rp: relyingParty(tenant, settings), challenge, userHandle, account, existing };
      const options = await creationOptions(made);
      const making = { userId: user.id, userHandle: userHandle.toString('base64url') };
      const pending = { tenantId: tenant.id, challenge: challenge.toString('base64url'), making };
      return { challengeId: await begin(pending), options };
    },
    add: async ({ user, name, challengeId, response }, tenant, command) => {
      const pending = await taken(challengeId, tenant.id);
      if (pending?.making?.userId !== user.id) return { refused: 'challenge_expired' };
      const rp = relyingParty(tenant, settings);
      const made = await madePasskey({ response, challenge: pending.challenge, rp });
      if (made === undefined) return { refused: 'invalid_passkey' };
      const { userHandle } = pending.making;
      const { id, publicKey, transports } = made;
      const passkey = await store.sealed(
        { id, publicKey, transports, userHandle },
        { userId: user.id, name, tenantId: tenant.id },
      );
      if (passkey === 'erased') return { refused: 'not_found' };
      const { counter, deviceType: device_type, backedUp: backed_up } = made;
      const enrol = { ...passkey, counter, device_type, backed_up, now: command.now };
      const enrolled = await streams.decideOn(factors, passkey.id, command, {
        isNew: true,
        decide: (factor) => enrolPasskey(enrol, factor),
      });
      if (!enrolled.accepted || enrolled.state.type !== 'passkey') {
        return { refused: 'invalid_passkey' };
      }
      const factor = { id: passkey.id, type: 'passkey' } as const;
      const added = await streams.decideOn(users, user.id, command, (state) =>
        addFactor({ factor, recoveryId: null, now: command.now }, state),
      );
      if (!added.accepted) return { refused: added.reason };
      return { passkey: enrolled.state, position: added.position };
    },
    request: async (user, tenant) => {
      const challenge = random.bytes(CHALLENGE_BYTES);
      const allowed = user === null ? [] : await store.credentialsOf(user, tenant.id);
      const rp = relyingParty(tenant, settings);
      const options = await requestOptions({ rp, challenge, allowed });
      const text = challenge.toString('base64url');
      const pending = { tenantId: tenant.id, challenge: text, making: null };
      return { challengeId: await begin(pending), options };
    },
    look: async ({ challengeId, response }, tenant) => {
      const pending = await taken(challengeId, tenant.id);
      if (pending === undefined || pending.making !== null) return 'expired';
      const found = await store.find(tenant.id, (response as { id?: unknown }).id);
      if (found === undefined) return { invalid: true, userId: null };
      const of = { response, challenge: pending.challenge, rp: relyingParty(tenant, settings) };
      const shown = await shownPasskey(of, found.credential);
      if (shown === undefined) return { invalid: true, userId: found.facts.user_id };
      return { userId: found.facts.user_id, factorId: found.facts.id, ...shown };
    },
    use: async ({ userId, factorId, counter, backedUp }, user, command) => {
      const isTheirs = user.secondFactors.factors.some(({ id }) => id === factorId);
      if (user.id !== userId || !isTheirs) return false;
      const own = { ...command, id: uuidFrom(command.id, 'use') };
      const used = await streams.decideOn(factors, factorId, own, (factor) =>
        usePasskey({ userId, counter, backedUp, now: command.now }, factor),
      );
      return used.accepted;
    },
  };
}

/**
 * One handle per account, because an authenticator with two handles keeps two entries for one person. It is derived
 * from the tenant's index key, so it reveals nothing about the account, and concurrent enrolments get the same handle.
 */
async function handleOf(
  { sealer }: Pick<Dependencies, 'sealer'>,
  of: {
    readonly user: ExistingUser;
    readonly tenant: TenantFacts;
    readonly existing: readonly PasskeyCredential[];
  },
): Promise<Buffer> {
  const [first] = of.existing;
  if (first !== undefined) return Buffer.from(first.userHandle, 'base64url');
  return Buffer.from(
    await sealer.indexHash({ tenantId: of.tenant.id }, 'passkey-handle', of.user.id),
  );
}

const keyOf = (challengeId: string): string => `webauthn:${challengeId}`;

/**
 * The relying party: the tenant's setting, otherwise the host of its own pages, otherwise ours. The hosted pages are
 * included if browsers allow it.
 */
export function relyingParty(tenant: TenantFacts, settings: Addresses): RelyingParty {
  const { displayName: name, settings: own } = tenant;
  const { origin } = new URL(own.app_url ?? settings.PUBLIC_URL);
  const { origins } = own.webauthn;
  const pages = origins.length === 0 ? [origin] : origins;
  const hosted = hasHostedPasskeys(tenant, settings) ? [new URL(settings.ISSUER).origin] : [];
  return { name, id: domainOf(tenant, settings), origins: [...new Set([...pages, ...hosted])] };
}

type Addresses = Pick<Settings, 'ISSUER' | 'PUBLIC_URL'>;

/** Browsers allow a passkey only at pages of its domain and its subdomains. */
export function hasHostedPasskeys(tenant: TenantFacts, settings: Addresses): boolean {
  const { hostname } = new URL(settings.ISSUER);
  const domain = domainOf(tenant, settings);
  return hostname === domain || hostname.endsWith(`.${domain}`);
}

const domainOf = ({ settings: { webauthn, app_url } }: TenantFacts, of: Addresses): string =>
  webauthn.rp_id ?? new URL(app_url ?? of.PUBLIC_URL).hostname;

type Of = { readonly userId: string; readonly tenantId: string; readonly name: string | null };

/** Credentials are encrypted, because a credential's id identifies a person's device. */
function credentialStore({ streams, sealer }: Pick<Dependencies, 'streams' | 'sealer'>) {
  const opened = async (facts: PasskeyFacts): Promise<PasskeyCredential | undefined> => {
    const place = factorField(facts.user_id, facts.id, 'credential');
    const text = await sealer.open(facts.credential, place);
    return text === null ? undefined : JSON.parse(text);
  };
  const load = async (tenantId: string, id: string) => {
    const { state } = await streams.load(factors, { tenantId, id });
    return state.type === 'passkey' ? state : undefined;
  };
  const idOf = (tenantId: string, credentialId: string) =>
    sealer.indexHash({ tenantId }, 'passkey', credentialId);
  return {
    sealed: async (credential: PasskeyCredential, { userId, tenantId, name }: Of) => {
      const id = await idOf(tenantId, credential.id);
      const seal = (field: 'credential' | 'name', text: string) =>
        sealer.seal(tenantId, factorField(userId, id, field), text);
      const [box, sealedName] = await Promise.all([
        seal('credential', JSON.stringify(credential)),
        name === null ? null : seal('name', name),
      ]);
      if (box === 'erased' || sealedName === 'erased') return 'erased';
      return { id, user_id: userId, name: sealedName, credential: box };
    },
    find: async (tenantId: string, credentialId: unknown) => {
      if (typeof credentialId !== 'string') return undefined;
      const facts = await load(tenantId, await idOf(tenantId, credentialId));
      const credential = facts && (await opened(facts));
      return credential && { facts, credential };
    },
    credentialsOf: async (user: ExistingUser, tenantId: string) => {
      const own = user.secondFactors.factors.filter(({ type }) => type === 'passkey');
      const found = own.map(async ({ id }) => {
        const facts = await load(tenantId, id);
        const credential = facts && (await opened(facts));
        return credential === undefined ? [] : [credential];
      });
      return (await Promise.all(found)).flat();
    },
  };
}
