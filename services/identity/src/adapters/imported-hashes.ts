/**
 * Password hashes that were made elsewhere (bcrypt, scrypt, PBKDF2), verified so that imported people can
 * sign in; the next right password is hashed again by our own function. All of it runs outside the main
 * thread.
 */
import { pbkdf2, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import type { PasswordFunction } from './argon2.ts';

/** Verifying a hash that costs more would be an attack. */
const BCRYPT_COST_MAX = 14;
const SCRYPT_MEMORY_MAX_BYTES = 128 * 1024 * 1024;
const SCRYPT_PARALLELISM_MAX = 4;
const PBKDF2_ITERATIONS_MAX = 1_500_000;
const BYTES_MIN = 8;
const BYTES_MAX = 64;

const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const SCRYPT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,2})\$([\w+/.]+)\$([\w+/.]+)$/;
const PBKDF2 =
  /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$(?:i=)?(\d{1,8})(?:,l=\d+)?\$([\w+/.]+)\$([\w+/.]+)$/;

type Verify = (password: string) => Promise<boolean>;
const scryptAsync = promisify<
  string,
  Buffer,
  number,
  { N: number; r: number; p: number; maxmem: number },
  Buffer
>(scrypt);
const pbkdf2Async = promisify(pbkdf2);

/** What `own` does not know is looked for here; what it makes is always its own. */
export const withImportedHashes = (own: PasswordFunction): PasswordFunction => ({
  hash: own.hash,
  isKnown: (phc) => own.isKnown(phc) || importedHash(phc) !== undefined,
  isOutdated: (phc) => importedHash(phc) !== undefined || own.isOutdated(phc),
  verify: async (phc, password) => {
    const imported = importedHash(phc);
    return imported === undefined ? own.verify(phc, password) : imported(password);
  },
});

/** Undefined for what is none of these, or immoderate. */
const importedHash = (phc: string): Verify | undefined =>
  bcryptHash(phc) ?? scryptHash(phc) ?? pbkdf2Hash(phc);

function bcryptHash(phc: string): Verify | undefined {
  const cost = BCRYPT.exec(phc)?.[1];
  if (cost === undefined || Number(cost) > BCRYPT_COST_MAX) return undefined;
  return (password) => verifyBcrypt(password, phc).catch(() => false);
}

function scryptHash(phc: string): Verify | undefined {
  const [, ln, r, p, salt = '', hash = ''] = SCRYPT.exec(phc) ?? [];
  if (ln === undefined) return undefined;
  const cost = { N: 2 ** Number(ln), r: Number(r), p: Number(p) };
  const memory = 128 * cost.N * cost.r;
  const bytes = bytesOf(salt, hash);
  const isModerate = memory <= SCRYPT_MEMORY_MAX_BYTES && cost.p <= SCRYPT_PARALLELISM_MAX;
  if (bytes === undefined || !isModerate || cost.N < 2 || cost.r < 1 || cost.p < 1)
    return undefined;
  const options = { ...cost, maxmem: 2 * memory + 1024 * 1024 };
  return async (password) =>
    isSame(await scryptAsync(password, bytes.salt, bytes.hash.length, options), bytes.hash);
}

function pbkdf2Hash(phc: string): Verify | undefined {
  const [, digest = 'sha1', rounds, salt = '', hash = ''] = PBKDF2.exec(phc) ?? [];
  const iterations = Number(rounds ?? 0);
  const bytes = bytesOf(salt, hash);
  if (bytes === undefined || iterations < 1 || iterations > PBKDF2_ITERATIONS_MAX) return undefined;
  return async (password) => {
    const made = await pbkdf2Async(password, bytes.salt, iterations, bytes.hash.length, digest);
    return isSame(made, bytes.hash);
  };
}

/** Base64 without padding; some write a dot for the plus. */
function bytesOf(salt: string, hash: string) {
  const [salted, hashed] = [salt, hash].map((text) =>
    Buffer.from(text.replaceAll('.', '+'), 'base64'),
  );
  const fits = [salted, hashed].every(
    (bytes) => bytes !== undefined && bytes.length >= BYTES_MIN && bytes.length <= BYTES_MAX,
  );
  return fits && salted && hashed ? { salt: salted, hash: hashed } : undefined;
}

const isSame = (one: Buffer, other: Buffer): boolean => timingSafeEqual(one, other);
