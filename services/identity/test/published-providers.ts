/**
 * Imitates Google, Microsoft and GitHub according to the documents in `published`: the same addresses, metadata,
 * algorithms, claims and responses. They sign everybody in at once, as the person that a test names. Requests are
 * distinguished by path, so one test server can imitate all of them, also at the published addresses.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import github from './published/github.json' with { type: 'json' };
import google from './published/google.json' with { type: 'json' };
import microsoft from './published/microsoft.json' with { type: 'json' };

export type Claims = { readonly sub: string; readonly [name: string]: unknown };
export type GitHubPerson = {
  readonly user: object;
  readonly emails: readonly { email: string; primary: boolean; verified: boolean }[];
};

export type Played = {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly authorization: string;
};
export type PlayedAnswer =
  | { readonly location: string }
  | { readonly status: number; readonly json: unknown };

export const CLIENT = { id: 'cardea', secret: 'canary-client-secret-of-forty-characters' };
export const OTHER_CLIENT = { id: 'another', secret: 'the-secret-of-another-application-here' };
const CLIENTS = [CLIENT, OTHER_CLIENT];

const METADATA = '/.well-known/openid-configuration';
const COMMON = ['common', 'organizations'];
const KID = 'issuer-key';
const TOKEN_SECONDS = 3_600;

/** Maps a published address to the address of the imitation. */
type At = (published: string) => string;
type Issued = {
  readonly issuer: string;
  readonly person: Claims;
  readonly query: URLSearchParams;
};

export type PublishedIssuers = {
  /** The person who is signed in from now on. */
  person: Claims;
  /** Whether authorization responses have the parameter `iss` of RFC 9207. Neither document announces it. */
  sendsIssuer: boolean;
  /** Replaces the ID tokens that the provider would issue. */
  forged: ((claims: Claims) => string) | undefined;
  /** Signs claims with the key of Google and Microsoft, or with the given key. */
  signed(claims: object, by?: KeyObject): string;
  /** Returns undefined for a path that neither Google nor Microsoft has. */
  answer(played: Played): PlayedAnswer | undefined;
};

export function publishedIssuers(at: At): PublishedIssuers {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: KID, alg: 'RS256', use: 'sig' };
  const codes = new Map<string, Issued>();
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const played: PublishedIssuers = {
    person: { sub: 'nobody' },
    sendsIssuer: false,
    forged: undefined,
    signed: (claims, by = privateKey) => {
      const text = `${part({ alg: 'RS256', kid: KID, typ: 'JWT' })}.${part(claims)}`;
      return `${text}.${sign('sha256', Buffer.from(text), by).toString('base64url')}`;
    },
    answer: ({ path, query, form }) => {
      const document = documentAt(path);
      if (document === undefined) return undefined;
      const has = (endpoint: string) => path === new URL(document[endpoint] ?? '').pathname;
      const issuer = document['issuer'] ?? '';
      if (path.endsWith(METADATA)) {
        return { status: 200, json: JSON.parse(atEach(JSON.stringify(document), at)) };
      }
      if (has('jwks_uri')) return { status: 200, json: { keys: [jwk] } };
      if (has('authorization_endpoint')) {
        const code = randomBytes(16).toString('hex');
        codes.set(code, { issuer, person: played.person, query });
        const iss = played.sendsIssuer ? { iss: at(issuer) } : {};
        const answered = { code, state: query.get('state') ?? '', ...iss };
        return { location: `${query.get('redirect_uri')}?${new URLSearchParams(answered)}` };
      }
      if (!has('token_endpoint')) return undefined;
      const code = form.get('code') ?? '';
      const issued = codes.get(code);
      codes.delete(code);
      if (issued === undefined || !isRight(form, issued.query)) {
        return { status: 400, json: { error: 'invalid_grant' } };
      }
      const access_token = randomBytes(16).toString('hex');
      const claims = claimsFor(issued, access_token, at);
      const id_token = played.forged?.(claims) ?? played.signed(claims);
      const more = { expires_in: TOKEN_SECONDS, token_type: 'Bearer' };
      return { status: 200, json: { access_token, id_token, ...more } };
    },
  };
  return played;
}

const atEach = (text: string, at: At): string =>
  text.replace(/https:\/\/[^"]+/g, (published) => at(published));

/** Finds the metadata document that contains the path. */
function documentAt(path: string): { readonly [member: string]: string } | undefined {
  const [, directory = ''] = path.split('/');
  const documents = [google.metadata, microsoftOf(directory)];
  return documents.find(({ issuer, ...endpoints }) => {
    const discovered = `${issuer.replace('{tenantid}', directory)}${METADATA}`;
    const own = [discovered, ...Object.values(endpoints)];
    return own.some((url) => typeof url === 'string' && pathOf(url) === path);
  }) as { readonly [member: string]: string } | undefined;
}

const pathOf = (url: string) => (URL.canParse(url) ? new URL(url).pathname : undefined);

/**
 * Metadata for one directory names that directory as issuer. Metadata for several has an issuer template at its own
 * path.
 */
function microsoftOf(directory: string): typeof microsoft.metadata {
  const text = JSON.stringify(microsoft.metadata).replaceAll('/common/', `/${directory}/`);
  return JSON.parse(COMMON.includes(directory) ? text : text.replaceAll('{tenantid}', directory));
}

/** The checks that both documents require of a token endpoint. */
function isRight(form: URLSearchParams, asked: URLSearchParams): boolean {
  const client = CLIENTS.find(({ id }) => id === asked.get('client_id'));
  const verifier = createHash('sha256').update(form.get('code_verifier') ?? '');
  return (
    client !== undefined &&
    form.get('client_id') === client.id &&
    form.get('client_secret') === client.secret &&
    form.get('redirect_uri') === asked.get('redirect_uri') &&
    verifier.digest('base64url') === asked.get('code_challenge')
  );
}

function claimsFor({ issuer, person, query }: Issued, accessToken: string, at: At): Claims {
  const now = Math.floor(Date.now() / 1_000);
  const half = createHash('sha256').update(accessToken).digest().subarray(0, 16);
  const aud = query.get('client_id') ?? '';
  const own =
    issuer === google.metadata.issuer
      ? { azp: aud, at_hash: half.toString('base64url') }
      : { ver: '2.0', nbf: now };
  return {
    ...own,
    ...person,
    iss: at(issuer.replace('{tenantid}', String(person['tid']))),
    ...{ aud, iat: now, exp: now + TOKEN_SECONDS, nonce: query.get('nonce') ?? '' },
  };
}

export type PublishedGitHub = {
  person: GitHubPerson;
  /** GitHub sends it since April 2026. GitHub Enterprise servers of older versions do not. */
  sendsIssuer: boolean;
  answer(played: Played): PlayedAnswer;
};

export function publishedGitHub(at: At): PublishedGitHub {
  const codes = new Map<string, URLSearchParams>();
  const tokens = new Set<string>();
  const played: PublishedGitHub = {
    person: { user: github.user, emails: github.emails },
    sendsIssuer: true,
    answer: ({ path, query, form, authorization }) => {
      if (path === pathOf(github.authorization_endpoint)) {
        const code = randomBytes(16).toString('hex');
        codes.set(code, query);
        const iss = played.sendsIssuer ? { iss: at(github.issuer) } : {};
        const answered = { code, state: query.get('state') ?? '', ...iss };
        return { location: `${query.get('redirect_uri')}?${new URLSearchParams(answered)}` };
      }
      if (path === pathOf(github.token_endpoint)) {
        const asked = codes.get(form.get('code') ?? '');
        codes.delete(form.get('code') ?? '');
        // GitHub sends errors with status 200.
        if (asked === undefined || !isRight(form, asked)) {
          return { status: 200, json: github.token_error };
        }
        const access_token = `gho_${randomBytes(16).toString('hex')}`;
        tokens.add(access_token);
        return { status: 200, json: { ...github.token_response, access_token } };
      }
      const isKnown = tokens.has(authorization.replace(/^bearer /i, ''));
      if (!isKnown) return { status: 401, json: { message: 'Bad credentials' } };
      if (path === '/user') return { status: 200, json: played.person.user };
      if (path === '/user/emails') return { status: 200, json: played.person.emails };
      return { status: 404, json: { message: 'Not Found' } };
    },
  };
  return played;
}
