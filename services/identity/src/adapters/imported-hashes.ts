/**
 * Verifies imported password hashes (bcrypt, Django's bcrypt over SHA-256, scrypt, Firebase's scrypt, PBKDF2), so that
 * imported users can sign in. The next right password is hashed again with our own function. All of it runs outside the
 * main thread. `foreign-hash-forms.ts` produces the formats that are read here.
 */
import { createCipheriv, createHash, pbkdf2, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import type { PasswordFunction } from './argon2.ts';
import {
  BCRYPT_COST_MAX,
  BCRYPT_MS_PER_ROUND,
  HASH_MEMORY_MAX_BYTES,
  type HashCost,
  PBKDF2_ITERATIONS_MAX,
  PBKDF2_MS_PER_ITERATION,
  SCRYPT_MS_PER_WORK,
  SCRYPT_WORK_MAX,
} from './hash-cost.ts';

const SALT_BYTES_MIN = 4;
const SALT_BYTES_MAX = 128;
const HASH_BYTES_MIN = 8;
const HASH_BYTES_MAX = 64;

const ARGON2 = '$argon2';
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const DJANGO_BCRYPT = /^bcrypt_sha256\$(\$2[aby]\$\d\d\$[./A-Za-z0-9]{53})$/;
const SCRYPT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,7}),p=(\d{1,7})\$([\w+/.]+)\$([\w+/.]+)$/;
const FIREBASE =
  /^\$firebase-scrypt\$ln=(\d{1,2}),r=(\d{1,7}),p=1\$([\w+/]+)\$([\w+/]+)\$([\w+/]+)$/;
const PBKDF2 =
  /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$(?:i=)?(\d{1,10})(?:,l=\d+)?\$([\w+/.]+)\$([\w+/.]+)$/;
const DIGEST_BYTES = { sha1: 20, sha256: 32, sha512: 64 } as const;

type Imported = HashCost & { readonly verify: (password: string) => Promise<boolean> };
const scryptAsync = promisify<
  string,
  Buffer,
  number,
  { N: number; r: number; p: number; maxmem: number },
  Buffer
>(scrypt);
const pbkdf2Async = promisify(pbkdf2);

/** Adds the imported formats to `own`. New hashes are always made by `own`. */
export const withImportedHashes = (own: PasswordFunction): PasswordFunction => ({
  hash: own.hash,
  costOf: (phc) => {
    const imported = importedHash(phc);
    if (imported === undefined || imported === 'too_dear') return imported ?? own.costOf(phc);
    const { workMs, sample } = imported;
    return { workMs, sample };
  },
  isOutdated: (phc) => importedHash(phc) !== undefined || own.isOutdated(phc),
  verify: async (phc, password) => {
    const imported = importedHash(phc);
    if (imported === undefined) return own.verify(phc, password);
    return imported === 'too_dear' ? false : imported.verify(password);
  },
});

/** Returns undefined for any other format. Nearly all hashes are our own, which are not read as the other formats. */
const importedHash = (phc: string): Imported | 'too_dear' | undefined =>
  phc.startsWith(ARGON2)
    ? undefined
    : (bcryptHash(phc) ??
      djangoBcryptHash(phc) ??
      scryptHash(phc) ??
      firebaseHash(phc) ??
      pbkdf2Hash(phc));

function bcryptHash(phc: string): Imported | 'too_dear' | undefined {
  const cost = BCRYPT.exec(phc)?.[1];
  if (cost === undefined) return undefined;
  if (Number(cost) > BCRYPT_COST_MAX) return 'too_dear';
  return {
    workMs: 2 ** Number(cost) * BCRYPT_MS_PER_ROUND,
    sample: `$2b$${cost}$${'.'.repeat(53)}`,
    verify: (password) => verifyBcrypt(password, phc).catch(() => false),
  };
}

/** Django first hashes long passwords with SHA-256 and passes the hex text to bcrypt. */
function djangoBcryptHash(phc: string): Imported | 'too_dear' | undefined {
  const inner = DJANGO_BCRYPT.exec(phc)?.[1];
  const bcrypt = inner === undefined ? undefined : bcryptHash(inner);
  if (typeof bcrypt !== 'object') return bcrypt;
  return {
    ...bcrypt,
    verify: (password) => bcrypt.verify(createHash('sha256').update(password).digest('hex')),
  };
}

type ScryptCost = {
  readonly cost: { readonly N: number; readonly r: number; readonly p: number };
  readonly workMs: number;
  readonly maxmem: number;
};

/** Returns undefined for parameters that scrypt itself refuses. */
function scryptCost(ln: number, r: number, p: number): ScryptCost | 'too_dear' | undefined {
  // N has to be less than 2 to the power of 16 times r (RFC 7914, section 6).
  if (ln < 1 || r < 1 || p < 1 || ln >= 16 * r) return undefined;
  const cost = { N: 2 ** ln, r, p };
  const work = cost.N * r * p;
  // The table's memory, plus one block for each lane after the first.
  const memory = 128 * r * (cost.N + p - 1);
  if (work > SCRYPT_WORK_MAX || memory > HASH_MEMORY_MAX_BYTES) return 'too_dear';
  const maxmem = 128 * r * (cost.N + p + 2);
  return { cost, workMs: work * SCRYPT_MS_PER_WORK, maxmem };
}

function scryptHash(phc: string): Imported | 'too_dear' | undefined {
  const [, ln, r, p, salt = '', hash = ''] = SCRYPT.exec(phc) ?? [];
  const bytes = bytesOf(salt, hash);
  if (ln === undefined || bytes === undefined) return undefined;
  const of = scryptCost(Number(ln), Number(r), Number(p));
  if (typeof of !== 'object') return of;
  const options = { ...of.cost, maxmem: of.maxmem };
  return {
    workMs: of.workMs,
    sample: `$scrypt$ln=${ln},r=${r},p=${p}$${NO_SALT}$${NO_DIGEST}`,
    verify: async (password) =>
      isSame(await scryptAsync(password, bytes.salt, bytes.hash.length, options), bytes.hash),
  };
}

const FIREBASE_KEY_BYTES = 32;
const FIREBASE_IV = Buffer.alloc(16);

/** Firebase encrypts its signer key with the key that scrypt derives from the password. The ciphertext is the hash. */
function firebaseHash(phc: string): Imported | 'too_dear' | undefined {
  const [, ln, r, salt = '', signer = '', hash = ''] = FIREBASE.exec(phc) ?? [];
  const bytes = bytesOf(salt, hash);
  const signerKey = Buffer.from(signer, 'base64');
  if (ln === undefined || bytes === undefined) return undefined;
  if (signerKey.length !== bytes.hash.length) return undefined;
  const of = scryptCost(Number(ln), Number(r), 1);
  if (typeof of !== 'object') return of;
  const options = { ...of.cost, maxmem: of.maxmem };
  const nothing = base64(Buffer.alloc(signerKey.length));
  return {
    workMs: of.workMs,
    sample: `$firebase-scrypt$ln=${ln},r=${r},p=1$${NO_SALT}$${nothing}$${nothing}`,
    verify: async (password) => {
      const key = await scryptAsync(password, bytes.salt, FIREBASE_KEY_BYTES, options);
      const cipher = createCipheriv('aes-256-ctr', key, FIREBASE_IV);
      return isSame(Buffer.concat([cipher.update(signerKey), cipher.final()]), bytes.hash);
    },
  };
}

function pbkdf2Hash(phc: string): Imported | 'too_dear' | undefined {
  const [, named = 'sha1', rounds, salt = '', hash = ''] = PBKDF2.exec(phc) ?? [];
  const digest = named as keyof typeof DIGEST_BYTES;
  const iterations = Number(rounds ?? 0);
  const bytes = bytesOf(salt, hash);
  if (bytes === undefined || iterations < 1) return undefined;
  if (iterations > PBKDF2_ITERATIONS_MAX) return 'too_dear';
  const blocks = Math.ceil(bytes.hash.length / DIGEST_BYTES[digest]);
  return {
    workMs: iterations * PBKDF2_MS_PER_ITERATION * blocks,
    sample: `$pbkdf2-${digest}$i=${iterations}$${NO_SALT}$${base64(Buffer.alloc(bytes.hash.length))}`,
    verify: async (password) => {
      const made = await pbkdf2Async(password, bytes.salt, iterations, bytes.hash.length, digest);
      return isSame(made, bytes.hash);
    },
  };
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
const NO_SALT = base64(Buffer.alloc(16));
const NO_DIGEST = base64(Buffer.alloc(32));

/** Base64 without padding. Some products write a dot instead of the plus. */
function bytesOf(salt: string, hash: string) {
  const [salted, hashed] = [salt, hash].map((text) =>
    Buffer.from(text.replaceAll('.', '+'), 'base64'),
  );
  if (salted === undefined || hashed === undefined) return undefined;
  const fits =
    salted.length >= SALT_BYTES_MIN &&
    salted.length <= SALT_BYTES_MAX &&
    hashed.length >= HASH_BYTES_MIN &&
    hashed.length <= HASH_BYTES_MAX;
  return fits ? { salt: salted, hash: hashed } : undefined;
}

const isSame = (one: Buffer, other: Buffer): boolean => timingSafeEqual(one, other);
