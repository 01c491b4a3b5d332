import { crc32 } from 'node:zlib';
import { type Random, systemRandom } from '@cardea/runtime';
import { base62 } from '../base62.ts';
import { sha256 } from '../digest.ts';

/**
 * The keys that identity issues (`docs/design/tokens.md`, Credentials). They are parsed by fixed lengths, never split,
 * since a base64url secret may contain the separator. A checksum detects typos before any lookup.
 */
export type KeyEnvironment = 'live' | 'test';
export type CredentialKey =
  | {
      readonly kind: 'svc' | 'agk';
      readonly environment: KeyEnvironment;
      readonly id: string;
      readonly secret: string;
    }
  | { readonly kind: 'pk'; readonly environment: KeyEnvironment; readonly id: string }
  | { readonly kind: 'cs'; readonly secret: string };

/** A new key. `text` is shown once, the rest is stored. */
export type IssuedKey = {
  readonly text: string;
  readonly id: string;
  /** The SHA-256 of the secret, 64 hexadecimal digits. */
  readonly secretHash: string;
};

const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const SUM_LENGTH = 6;
const ID_LENGTH = { svc: 8, agk: 12, pk: 24 } as const;
/** Twice the size of the longest id, so that all digits are nearly equally likely. */
const ID_BYTES = 36;

export function issueKey(
  kind: 'svc' | 'agk',
  environment: KeyEnvironment,
  random: Random = systemRandom,
): IssuedKey {
  const id = base62(random.bytes(ID_BYTES), ID_LENGTH[kind]);
  const bytes = random.bytes(SECRET_BYTES);
  const secret = kind === 'svc' ? base62(bytes, SECRET_LENGTH) : bytes.toString('base64url');
  return { text: printKey({ kind, environment, id, secret }), id, secretHash: secretHash(secret) };
}

/** An identifier, not a secret. */
export const issuePublishableKey = (
  environment: KeyEnvironment,
  random: Random = systemRandom,
): string =>
  printKey({ kind: 'pk', environment, id: base62(random.bytes(ID_BYTES), ID_LENGTH.pk) });

export function issueClientSecret(random: Random = systemRandom): Omit<IssuedKey, 'id'> {
  const secret = base62(random.bytes(SECRET_BYTES), SECRET_LENGTH);
  return { text: printKey({ kind: 'cs', secret }), secretHash: secretHash(secret) };
}

/** The stored form. The secrets have 256 bits, so a slow hash would only make overload easier. */
export const secretHash = (secret: string): string => sha256(secret).toString('hex');

export function printKey(key: CredentialKey): string {
  switch (key.kind) {
    case 'svc':
      return summed(`svc_${key.environment}_${key.id}${key.secret}`);
    case 'agk':
      return summed(`agk_${key.environment}_${key.id}_${key.secret}`);
    case 'pk':
      return `pk_${key.environment}_${key.id}`;
    case 'cs':
      return `cs_${key.secret}`;
  }
}

const SVC = /^svc_(live|test)_([0-9A-Za-z]{8})([0-9A-Za-z]{43})[0-9A-Za-z]{6}$/;
const AGK = /^agk_(live|test)_([0-9A-Za-z]{12})_([\w-]{43})[0-9A-Za-z]{6}$/;
const PK = /^pk_(live|test)_([0-9A-Za-z]{24})$/;
const CS = /^cs_([0-9A-Za-z]{43})$/;

/** Returns undefined for any text that {@link printKey} does not produce. */
export function parseKey(text: string): CredentialKey | undefined {
  const checked = (kind: 'svc' | 'agk', form: RegExp): CredentialKey | undefined => {
    const [, environment, id = '', secret = ''] = form.exec(text) ?? [];
    if (environment === undefined || summed(text.slice(0, -SUM_LENGTH)) !== text) return undefined;
    return { kind, environment: environment as KeyEnvironment, id, secret };
  };
  switch (text.slice(0, text.indexOf('_'))) {
    case 'svc':
      return checked('svc', SVC);
    case 'agk':
      return checked('agk', AGK);
    case 'pk': {
      const [, environment, id = ''] = PK.exec(text) ?? [];
      if (environment === undefined) return undefined;
      return { kind: 'pk', environment: environment as KeyEnvironment, id };
    }
    case 'cs': {
      const [, secret] = CS.exec(text) ?? [];
      return secret === undefined ? undefined : { kind: 'cs', secret };
    }
    default:
      return undefined;
  }
}

function summed(text: string): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(text));
  return text + base62(sum, SUM_LENGTH);
}
