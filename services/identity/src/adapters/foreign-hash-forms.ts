/**
 * Converts the password hashes of other products to the stored form: a PHC string if the function has one. Whether
 * verification is affordable is checked later, with the stored form.
 */

/** The credential of a Keycloak export. Both members are JSON texts. */
export type KeycloakHash = { readonly secretData: string; readonly credentialData: string };

/** The parameters of a Firebase project, and one user's salt. Texts are base64. */
export type FirebaseParameters = {
  readonly salt: string;
  readonly signer_key: string;
  readonly salt_separator: string;
  readonly rounds: number;
  readonly mem_cost: number;
};

export type ForeignHash = {
  readonly hash: string | KeycloakHash;
  readonly firebase?: FirebaseParameters | undefined;
};

const DJANGO_PBKDF2 = /^pbkdf2_(sha1|sha256)\$(\d{1,8})\$([^$]{1,128})\$([\w+/=-]+)$/;
const DJANGO_SCRYPT = /^scrypt\$(\d{1,10})\$([^$]{1,128})\$(\d{1,7})\$(\d{1,7})\$([\w+/=-]+)$/;
/** Django's prefix before a hash of another library. */
const DJANGO_PREFIX = /^(?:argon2|bcrypt\$)(?=\$)/;
const BASE64 = /^[\w+/-]+={0,2}$/;

/** Returns undefined for a malformed hash. A hash without a special format is returned unchanged. */
export function storedHash({ hash, firebase }: ForeignHash): string | undefined {
  if (typeof hash !== 'string') return keycloakHash(hash);
  if (firebase !== undefined) return firebaseHash(hash, firebase);
  return (
    djangoPbkdf2(hash) ??
    djangoScrypt(hash) ??
    aspNetHash(hash) ??
    unpadded(hash.replace(DJANGO_PREFIX, ''))
  );
}

function djangoPbkdf2(hash: string): string | undefined {
  const [, digest, iterations, salt, made] = DJANGO_PBKDF2.exec(hash) ?? [];
  if (salt === undefined || made === undefined) return undefined;
  return pbkdf2(digest, Number(iterations), { salt: Buffer.from(salt), made: fromBase64(made) });
}

function djangoScrypt(hash: string): string | undefined {
  const [, n, salt, r, p, made] = DJANGO_SCRYPT.exec(hash) ?? [];
  const ln = Math.log2(Number(n));
  if (salt === undefined || made === undefined || !Number.isInteger(ln)) return undefined;
  return `$scrypt$ln=${ln},r=${r},p=${p}$${toBase64(Buffer.from(salt))}$${toBase64(fromBase64(made))}`;
}

const ASPNET_V2 = { marker: 0, bytes: 49, salt: 16, iterations: 1_000 } as const;
/** Marker, function, iterations and salt length precede the salt. */
const ASPNET_V3 = { marker: 1, headerBytes: 13, digests: ['sha1', 'sha256', 'sha512'] } as const;

function aspNetHash(hash: string): string | undefined {
  if (!BASE64.test(hash)) return undefined;
  const bytes = fromBase64(hash);
  if (bytes[0] === ASPNET_V2.marker && bytes.length === ASPNET_V2.bytes) {
    const saltEnd = 1 + ASPNET_V2.salt;
    const of = { salt: bytes.subarray(1, saltEnd), made: bytes.subarray(saltEnd) };
    return pbkdf2('sha1', ASPNET_V2.iterations, of);
  }
  if (bytes[0] !== ASPNET_V3.marker || bytes.length <= ASPNET_V3.headerBytes) return undefined;
  const digest = ASPNET_V3.digests[bytes.readUInt32BE(1)];
  if (digest === undefined) return undefined;
  const saltEnd = ASPNET_V3.headerBytes + bytes.readUInt32BE(9);
  const salt = bytes.subarray(ASPNET_V3.headerBytes, saltEnd);
  return pbkdf2(digest, bytes.readUInt32BE(5), { salt, made: bytes.subarray(saltEnd) });
}

function firebaseHash(hash: string, firebase: FirebaseParameters): string | undefined {
  const { salt, salt_separator: separator, signer_key: signer, rounds, mem_cost } = firebase;
  // A project without a separator sends an empty text, which `BASE64` does not match.
  const texts = [salt, signer, hash, ...(separator === '' ? [] : [separator])];
  if (!texts.every((text) => BASE64.test(text))) return undefined;
  const salted = Buffer.concat([fromBase64(salt), fromBase64(separator)]);
  const parts = [salted, fromBase64(signer), fromBase64(hash)].map(toBase64);
  return `$firebase-scrypt$ln=${mem_cost},r=${rounds},p=1$${parts.join('$')}`;
}

const KEYCLOAK_PBKDF2: Readonly<Record<string, string>> = {
  pbkdf2: 'sha1',
  'pbkdf2-sha256': 'sha256',
  'pbkdf2-sha512': 'sha512',
};

function keycloakHash({ secretData, credentialData }: KeycloakHash): string | undefined {
  const [secret, credential] = [parsed(secretData), parsed(credentialData)];
  const { value, salt } = secret;
  const { algorithm, hashIterations: iterations, additionalParameters: more } = credential;
  if (typeof value !== 'string' || typeof salt !== 'string') return undefined;
  if (!BASE64.test(value) || !BASE64.test(salt)) return undefined;
  if (typeof algorithm !== 'string' || !Number.isSafeInteger(iterations)) return undefined;
  const of = { salt: fromBase64(salt), made: fromBase64(value) };
  if (algorithm === 'argon2') return keycloakArgon2(Number(iterations), record(more), of);
  const digest = Object.hasOwn(KEYCLOAK_PBKDF2, algorithm) ? KEYCLOAK_PBKDF2[algorithm] : undefined;
  return pbkdf2(digest, Number(iterations), of);
}

const ARGON2_TYPES: readonly unknown[] = ['id', 'i', 'd'];
const ARGON2_VERSIONS: Readonly<Record<string, number>> = { '1.3': 19, '1.0': 16 };
const WHOLE_NUMBER = /^\d{1,9}$/;

function keycloakArgon2(iterations: number, more: Fields, { salt, made }: Hashed) {
  const [type, version, memory, lanes] = ['type', 'version', 'memory', 'parallelism'].map(
    (name) => {
      const given = more[name];
      return String(Array.isArray(given) ? given[0] : given);
    },
  );
  const number = Object.hasOwn(ARGON2_VERSIONS, version ?? '') && ARGON2_VERSIONS[version ?? ''];
  const isWhole = [memory, lanes].every((text) => WHOLE_NUMBER.test(text ?? ''));
  if (!ARGON2_TYPES.includes(type) || number === false || !isWhole) return undefined;
  const cost = `m=${memory},t=${iterations},p=${lanes}`;
  return `$argon2${type}$v=${number}$${cost}$${toBase64(salt)}$${toBase64(made)}`;
}

type Hashed = { readonly salt: Buffer; readonly made: Buffer };

const pbkdf2 = (digest: string | undefined, iterations: number, { salt, made }: Hashed) =>
  digest === undefined
    ? undefined
    : `$pbkdf2-${digest}$i=${iterations}$${toBase64(salt)}$${toBase64(made)}`;

type Fields = Readonly<Record<string, unknown>>;

const record = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? { ...value } : {};

function parsed(json: string): Fields {
  try {
    return record(JSON.parse(json));
  } catch {
    return {};
  }
}

/** Accepts both alphabets of base64, with or without padding. */
const fromBase64 = (text: string): Buffer => Buffer.from(text, 'base64');
const toBase64 = (bytes: Buffer): string => unpadded(bytes.toString('base64'));
/** An equals sign elsewhere belongs to the parameters. */
const unpadded = (phc: string): string => phc.replace(/=+(?=\$|$)/g, '');
