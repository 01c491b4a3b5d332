/** An authenticator in software (WebAuthn, ES256, no attestation), including the browser's part. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

type Options = { readonly challenge: string; readonly rp?: { id: string }; readonly rpId?: string };
type Creation = Options & { readonly user: { id: string } };

export type Behaviour = {
  /** The origin of the page. */
  readonly origin?: string;
  /** Omits user verification. */
  readonly unverified?: true;
  readonly counter?: number;
  /** Whether the passkey is synchronized to other devices. */
  readonly backedUp?: true;
};

const PRESENT = 0x01;
const VERIFIED = 0x04;
const ELIGIBLE = 0x08;
const BACKED_UP = 0x10;
const ATTESTED = 0x40;
const ORIGIN = 'http://cardea.test';

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();

export function softwareAuthenticator() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  let userHandle = '';
  let used = 0;

  const clientData = (type: string, challenge: string, { origin = ORIGIN }: Behaviour) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const authData = (
    rpId: string,
    { unverified, counter, backedUp }: Behaviour,
    attested?: Buffer,
  ) => {
    used += 1;
    const synchronized = backedUp === true ? ELIGIBLE | BACKED_UP : 0;
    const verified = unverified === true ? 0 : VERIFIED;
    const flags = PRESENT | verified | synchronized | (attested ? ATTESTED : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter ?? used);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested ?? Buffer.alloc(0)]);
  };
  const answer = (response: object) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });

  return {
    create: (options: Creation, behaviour: Behaviour = {}) => {
      userHandle = options.user.id;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, coseKey(publicKey)]);
      const data = authData(options.rp?.id ?? '', behaviour, attested);
      const attestation = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', new Uint8Array(data)],
      ]);
      const encoded = isoCBOR.encode(attestation as Parameters<typeof isoCBOR.encode>[0]);
      return answer({
        clientDataJSON: clientData('webauthn.create', options.challenge, behaviour).toString(
          'base64url',
        ),
        attestationObject: Buffer.from(encoded).toString('base64url'),
        transports: ['internal'],
      });
    },
    get: (options: Options, behaviour: Behaviour = {}) => {
      const client = clientData('webauthn.get', options.challenge, behaviour);
      const data = authData(options.rpId ?? '', behaviour);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle,
      });
    },
  };
}

/** A COSE key: EC2, ES256, P-256, x, y. */
function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  const key = new Map<number, number | Uint8Array>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, bytes(x)],
    [-3, bytes(y)],
  ]);
  return Buffer.from(isoCBOR.encode(key as Parameters<typeof isoCBOR.encode>[0]));
}
