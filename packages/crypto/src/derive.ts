import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Settings } from '@cardea/runtime';
import { lengthPrefixed } from './envelope.ts';

/**
 * The two secrets of a deployment, from which all keys are derived. The settings themselves are never used as
 * keys.
 */
export type DeploymentSecrets = Pick<
  Settings,
  'JWT_SECRET' | 'JWT_SECRET_PREVIOUS' | 'ENCRYPTION_KEY' | 'ENCRYPTION_KEY_PREVIOUS'
>;
export type SecretName = 'JWT_SECRET' | 'ENCRYPTION_KEY';

/** Keys of 32 bytes each. New values are made with `current`. `previous` only reads existing values. */
export type DerivedKeys = { readonly current: Buffer; readonly previous: Buffer | undefined };
export type Derive = (from: SecretName, info: string) => DerivedKeys;

const SALT = 'cardea';
const KEY_BYTES = 32;

/** HKDF-SHA256 with the salt of the product; `info` names the use, e.g. `refresh/v1`. */
export const deriveKey = (secret: string | Buffer, info: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, SALT, info, KEY_BYTES));

/** Derives each key once and caches it; the infos are a short list of constants. */
export function deriveFrom(settings: DeploymentSecrets): Derive {
  const derived = new Map<string, DerivedKeys>();
  return (from, info) => {
    const name = `${from} ${info}`;
    const keys = derived.get(name) ?? {
      current: deriveKey(material(settings, from), info),
      previous: previousKey(settings, from, info),
    };
    derived.set(name, keys);
    return keys;
  };
}

/** A key that wraps other keys, and the short id that is stored beside each wrapped key. */
export type WrapKey = { readonly id: string; readonly key: KeyObject };
export type WrapKeys = { readonly current: WrapKey; readonly previous: WrapKey | undefined };

/** The wrapping keys of one use (`subject-wrap/v1`, `dek-wrap/v1`) under ENCRYPTION_KEY. */
export function wrapKeys(
  settings: Pick<DeploymentSecrets, 'ENCRYPTION_KEY' | 'ENCRYPTION_KEY_PREVIOUS'>,
  info: string,
): WrapKeys {
  const wrap = (hex: string): WrapKey => {
    const raw = Buffer.from(hex, 'hex');
    return { id: kekId(raw), key: createSecretKey(deriveKey(raw, info)) };
  };
  const previous = settings.ENCRYPTION_KEY_PREVIOUS?.reveal();
  return {
    current: wrap(settings.ENCRYPTION_KEY.reveal()),
    previous: previous === undefined ? undefined : wrap(previous),
  };
}

/** The wrapping key that a row names. Undefined if this process does not have it. */
export const wrapKeyOf = (keys: WrapKeys, id: string): WrapKey | undefined =>
  [keys.current, keys.previous].find((each) => each?.id === id);

const KEK_ID_HEX = 8;
const kekId = (raw: Buffer): string =>
  createHash('sha256').update(lengthPrefixed('kek-id/v1', raw)).digest('hex').slice(0, KEK_ID_HEX);

/** ENCRYPTION_KEY is hexadecimal in any case, JWT_SECRET a text. */
const asBytes = (from: SecretName, text: string): Buffer =>
  Buffer.from(text, from === 'ENCRYPTION_KEY' ? 'hex' : 'utf8');

const material = (settings: DeploymentSecrets, from: SecretName): Buffer =>
  asBytes(from, settings[from].reveal());

function previousKey(
  settings: DeploymentSecrets,
  from: SecretName,
  info: string,
): Buffer | undefined {
  const { JWT_SECRET_PREVIOUS, ENCRYPTION_KEY_PREVIOUS } = settings;
  const secret = from === 'JWT_SECRET' ? JWT_SECRET_PREVIOUS : ENCRYPTION_KEY_PREVIOUS;
  return secret === undefined ? undefined : deriveKey(asBytes(from, secret.reveal()), info);
}
