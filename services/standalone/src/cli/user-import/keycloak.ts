/**
 * Reads `kc.sh export --realm NAME --users same_file --file realm.json`: a RealmRepresentation with `users`, each a
 * UserRepresentation with its `credentials`. Their `secretData` and `credentialData` are JSON texts.
 */
import { type Fields, fieldsOf, objectIn, stringOf } from './file-text.ts';
import {
  type FileNote,
  foreignUser,
  importedUser,
  nameOf,
  type ReadForeignUsers,
  usernameOf,
} from './foreign-user.ts';
import { jsonElements } from './json-elements.ts';

export const keycloakUsers: ReadForeignUsers = async function* (chunks) {
  for await (const { line, text } of jsonElements(chunks, { member: 'users' })) {
    yield foreignUser(line, text === undefined ? 'too_large' : readUser(text));
  }
};

function readUser(text: string) {
  const fields = objectIn(text);
  if (fields === undefined) return 'unreadable';
  if (stringOf(fields['serviceAccountClientId']) !== undefined) return 'not_a_user';
  const email = stringOf(fields['email']);
  if (email === undefined) return 'no_address';
  if (fields['enabled'] === false) return 'disabled';
  const credentials = credentialsOf(fields['credentials']);
  const password = credentials.find(({ type }) => type === 'password');
  const hash = password === undefined ? undefined : passwordHash(password);
  if (hash === null) return 'unsupported_hash';
  const totpSecret = credentials.map(totpSecretOf).find((secret) => secret !== undefined);
  const others = credentials.filter((credential) => credential !== password);
  return {
    user: importedUser({
      email,
      password_hash: hash,
      totp_secret: totpSecret,
      display_name: nameOf(stringOf(fields['firstName']), stringOf(fields['lastName'])),
      preferred_username: usernameOf(stringOf(fields['username']), email),
      locale: localeOf(fields['attributes']),
      email_verified: fields['emailVerified'] === true,
    }),
    notes: notesOf(others, totpSecret),
  };
}

const credentialsOf = (value: unknown): readonly Fields[] =>
  (Array.isArray(value) ? value.map(fieldsOf) : []).filter((each) => each !== undefined);

/** Returns null for a hash in a format of Keycloak before version 8. */
function passwordHash({ secretData, credentialData }: Fields) {
  const [secret, credential] = [stringOf(secretData), stringOf(credentialData)];
  return secret === undefined || credential === undefined
    ? null
    : { secretData: secret, credentialData: credential };
}

/** Authenticator apps keep working if their parameters equal ours: six digits, 30 seconds, SHA-1. */
function totpSecretOf({ type, secretData, credentialData }: Fields): string | undefined {
  if (type !== 'otp') return undefined;
  const value = stringOf(objectIn(stringOf(secretData) ?? '')?.['value']);
  const about = objectIn(stringOf(credentialData) ?? '') ?? {};
  const isOurs =
    about['subType'] === 'totp' &&
    (about['digits'] ?? DIGITS) === DIGITS &&
    (about['period'] ?? PERIOD_SECONDS) === PERIOD_SECONDS &&
    (about['algorithm'] ?? 'HmacSHA1') === 'HmacSHA1';
  if (value === undefined || !isOurs) return undefined;
  // Keycloak's own secrets are texts whose bytes are the key. Imported secrets may be base 32 already.
  return about['secretEncoding'] === 'BASE32' ? value : base32(Buffer.from(value));
}

const DIGITS = 6;
const PERIOD_SECONDS = 30;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => BASE32[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

/** Credentials that are no second factor are skipped silently: an old password, a link to another provider. */
const SECOND_FACTORS: readonly unknown[] = ['otp', 'webauthn', 'webauthn-passwordless'];

function notesOf(credentials: readonly Fields[], totpSecret: string | undefined) {
  const factors = credentials.filter(({ type }) => SECOND_FACTORS.includes(type));
  const brought = totpSecret === undefined ? 0 : 1;
  const notes: readonly FileNote[] = factors.length > brought ? ['second_factor_left'] : [];
  return notes;
}

/** Attributes are lists of texts. */
function localeOf(attributes: unknown): string | undefined {
  const value = fieldsOf(attributes)?.['locale'];
  return stringOf(Array.isArray(value) ? value[0] : value);
}
