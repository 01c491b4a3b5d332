/**
 * Passkeys (WebAuthn, `@simplewebauthn/server`). Invalid client data leads to a return value, never to an exception.
 */
import type {
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';

/**
 * Loaded when the first passkey is used, because its 300 files take longer to load than everything else at the start.
 */
const library = () => import('@simplewebauthn/server');

/** The owner of passkeys: the domain, its name, and the pages that may use them. */
export type RelyingParty = {
  readonly id: string;
  readonly name: string;
  readonly origins: readonly string[];
};

/** All members are base64url. */
export type PasskeyCredential = {
  readonly id: string;
  readonly publicKey: string;
  readonly userHandle: string;
  readonly transports: readonly string[];
};

export type NewPasskey = {
  readonly id: string;
  readonly publicKey: string;
  readonly transports: readonly string[];
  readonly counter: number;
  readonly deviceType: 'singleDevice' | 'multiDevice';
  readonly backedUp: boolean;
};

type Listed = Pick<PasskeyCredential, 'id' | 'transports'>;
/** Transports that were stored before they were checked may have any value. */
const listed = (credentials: readonly Listed[]) =>
  credentials.map(({ id, transports }) => ({ id, transports: knownTransports(transports) }));

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;
type Transport = (typeof TRANSPORTS)[number];

/** Transports are a hint for browsers, so a missing or malformed value counts as none. */
const knownTransports = (given: unknown): Transport[] =>
  Array.isArray(given) ? TRANSPORTS.filter((transport) => given.includes(transport)) : [];

/**
 * Optional members. Browsers, password managers and app bridges send them absent, null, empty or of a wrong type, and
 * all of these count as absent. The library's type check would refuse the whole response.
 */
const OPTIONAL_TEXTS = ['authenticatorAttachment'];
const OPTIONAL_RESPONSE_TEXTS = ['userHandle', 'publicKey', 'authenticatorData'];

function withoutEmpty(answer: object): object {
  const { response, clientExtensionResults, ...members } = answer as Members;
  return {
    ...withoutEmptyTexts(members, OPTIONAL_TEXTS),
    clientExtensionResults: isMembers(clientExtensionResults) ? clientExtensionResults : {},
    response: isMembers(response)
      ? {
          ...withoutEmptyTexts(response, OPTIONAL_RESPONSE_TEXTS),
          transports: knownTransports(response['transports']),
        }
      : response,
  };
}

type Members = { readonly [name: string]: unknown };
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const withoutEmptyTexts = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([name, value]) => !names.includes(name) || (typeof value === 'string' && value !== ''),
    ),
  );

/** The options with which a browser creates a passkey. They require user verification: a PIN, a finger or a face. */
export const creationOptions = async (of: {
  readonly rp: RelyingParty;
  readonly challenge: Buffer;
  readonly userHandle: Buffer;
  readonly account: string;
  readonly existing: readonly Listed[];
}) =>
  (await library()).generateRegistrationOptions({
    rpName: of.rp.name,
    rpID: of.rp.id,
    userName: of.account,
    userID: new Uint8Array(of.userHandle),
    challenge: new Uint8Array(of.challenge),
    attestationType: 'none',
    excludeCredentials: listed(of.existing),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });

/** The options with which a browser uses a passkey: one of the listed, or any of the domain if none is listed. */
export const requestOptions = async (of: {
  readonly rp: Pick<RelyingParty, 'id'>;
  readonly challenge: Buffer;
  readonly allowed: readonly Listed[];
}) =>
  (await library()).generateAuthenticationOptions({
    rpID: of.rp.id,
    challenge: new Uint8Array(of.challenge),
    userVerification: 'required',
    ...(of.allowed.length === 0 ? {} : { allowCredentials: listed(of.allowed) }),
  });

type Shown = {
  /** The browser's response, whose form is checked here. */
  readonly response: object;
  /** The challenge in base64url. */
  readonly challenge: string;
  readonly rp: RelyingParty;
};
type Registration = Parameters<typeof verifyRegistrationResponse>[0]['response'];
type Assertion = Parameters<typeof verifyAuthenticationResponse>[0]['response'];

/** Returns undefined if the response is for another page or challenge, lacks user verification, or is malformed. */
export async function madePasskey({
  response,
  challenge,
  rp,
}: Shown): Promise<NewPasskey | undefined> {
  const { verifyRegistrationResponse: verify } = await library();
  try {
    const { verified, registrationInfo: info } = await verify({
      response: withoutEmpty(response) as Registration,
      expectedChallenge: challenge,
      expectedOrigin: [...rp.origins],
      expectedRPID: rp.id,
      requireUserVerification: true,
    });
    if (!verified) return undefined;
    const { id, publicKey, counter, transports } = info.credential;
    return {
      id,
      publicKey: Buffer.from(publicKey).toString('base64url'),
      transports: knownTransports(transports),
      counter,
      deviceType: info.credentialDeviceType,
      backedUp: info.credentialBackedUp,
    };
  } catch {
    return undefined; // The library throws for malformed client data.
  }
}

/** Verifies the authenticator's response. The caller has to check its counter. */
export async function shownPasskey(
  { response, challenge, rp }: Shown,
  credential: PasskeyCredential,
): Promise<{ readonly counter: number; readonly backedUp: boolean } | undefined> {
  const { verifyAuthenticationResponse: verify } = await library();
  try {
    const answer = withoutEmpty(response) as Assertion;
    const { verified, authenticationInfo } = await verify({
      response: answer,
      expectedChallenge: challenge,
      expectedOrigin: [...rp.origins],
      expectedRPID: rp.id,
      credential: {
        id: credential.id,
        publicKey: new Uint8Array(Buffer.from(credential.publicKey, 'base64url')),
        counter: 0,
      },
      requireUserVerification: true,
    });
    if (!verified || !isHandleOf(answer, credential)) return undefined;
    const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo;
    return { counter, backedUp };
  } catch {
    return undefined;
  }
}

function isHandleOf({ response }: Assertion, { userHandle }: PasskeyCredential): boolean {
  const shown = response.userHandle;
  return shown === undefined || shown === userHandle;
}
