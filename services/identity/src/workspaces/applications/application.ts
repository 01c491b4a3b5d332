/**
 * An application of a tenant: how a client identifies itself, and what it may ask the authorization server
 * for. Its id is its client id; its publishable key is no secret.
 */
import type { MachineScope } from '@cardea/contracts';
import type { Stream } from '@cardea/event-store';
import type { ClientAlgorithm } from '../../adapters/client-algorithms.ts';
import {
  afterRotation,
  firstSecret,
  type KeySecret,
  type RotatedSecret,
} from '../../streams/key-secret.ts';
import type { Branding } from '../tenants/tenant.ts';
import type { ApplicationClaim } from './application-claims.ts';

export const APPLICATION_TYPES = ['spa', 'native', 'web', 'm2m'] as const;
export type ApplicationType = (typeof APPLICATION_TYPES)[number];

export const GRANT_TYPES = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:device_code',
] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

/** What an application may ask for unless its administrator says otherwise. */
export const DEFAULT_SCOPES = ['openid', 'profile', 'email', 'offline_access'] as const;

/** A public key that verifies `private_key_jwt`, as a JWK. */
export type ClientJwk = { readonly [member: string]: string };

/** What an administrator sets, and may change. */
export type ApplicationFields = {
  readonly name: string;
  readonly environment: string;
  readonly redirect_uris: readonly string[];
  /** Where a browser may be sent after a sign-out. */
  readonly post_logout_redirect_uris: readonly string[];
  /** Receives a notice when a session ends that the application has part in; null: none. */
  readonly backchannel_logout_uri: string | null;
  /** The application can use a notice only if it names the session. */
  readonly backchannel_logout_session_required: boolean;
  /** Origins whose pages may call the API. */
  readonly allowed_origins: readonly string[];
  readonly grant_types: readonly GrantType[];
  /** Scopes that it may ask for. */
  readonly scopes: readonly string[];
  /** The tenant's own: its users are not asked for their consent. */
  readonly first_party: boolean;
  readonly require_par: boolean;
  /** False: it may leave PKCE out; of a confidential `web` application alone. */
  readonly require_pkce: boolean;
  /** Signs its id_tokens. */
  readonly id_token_signed_response_alg: ClientAlgorithm;
  /** Signs the answers of userinfo; null: they are JSON. */
  readonly userinfo_signed_response_alg: ClientAlgorithm | null;
  /** It gets no token without a proof of the key to which the token is bound (RFC 9449). */
  readonly dpop_bound_access_tokens: boolean;
  /** What it receives about its users beside the claims of OpenID Connect. */
  readonly claims: readonly ApplicationClaim[];
  /** Where it differs from the tenant's. */
  readonly branding: Partial<Branding>;
  /** With any, the client authenticates with one of them and with no secret. */
  readonly jwks: readonly ClientJwk[];
  /** That it acts with in its own name; of a machine alone. */
  readonly roles: readonly string[];
  /** That it may ask a token for Cardea's own API with, in its own name; of a machine alone. */
  readonly machine_scopes: readonly MachineScope[];
};
export type ApplicationFacts = ApplicationFields & {
  readonly id: string;
  readonly type: ApplicationType;
  readonly publishable_key: string;
  readonly created_at: string;
};

export type ExistingApplication = ApplicationFacts & {
  readonly status: 'active' | 'deleted';
  /** Rises with each change of what it may do and of where its users are sent. */
  readonly version: number;
  /** Tokens in its own name end that were issued before, Unix seconds. */
  readonly tokensBefore: number;
  /** The key before the last rotation. */
  readonly previousKey: { readonly key: string; readonly until: string } | null;
  /** Null for public clients. */
  readonly secret: KeySecret | null;
  readonly requestHash: string | null;
};
export type Application = { readonly status: 'none' } | ExistingApplication;

type Created = ApplicationFacts & {
  readonly secret_hash: string | null;
  readonly request_hash: string | null;
};
/** Unix seconds; where tokens in the application's own name end with the event. */
type EndsTokens = { readonly tokens_before?: number };
export type ApplicationEvent =
  | {
      readonly type: 'ApplicationCreated';
      readonly concerns?: 'relay' | 'tell_changed_origins' | 'workspaces';
      readonly data: Created;
    }
  | {
      readonly type: 'ApplicationChanged';
      readonly data: Partial<ApplicationFields> & EndsTokens & { readonly id: string };
    }
  | {
      readonly type: 'PublishableKeyRotated';
      readonly concerns?: 'relay' | 'workspaces';
      readonly data: {
        readonly id: string;
        readonly publishable_key: string;
        readonly previous_key: string | null;
        readonly previous_until: string | null;
      };
    }
  | {
      readonly type: 'ClientSecretRotated';
      readonly concerns?: 'relay' | 'revocation_rules' | 'revocations';
      readonly data: RotatedSecret & EndsTokens & { readonly id: string };
    }
  | {
      readonly type: 'ApplicationDeleted';
      readonly data: { readonly id: string; readonly deleted_at: string };
    };

/** What the first releases recorded of an application allowed no sign-in through it. */
const BEFORE_OAUTH = {
  redirect_uris: [],
  allowed_origins: [],
  grant_types: ['authorization_code', 'refresh_token'],
  scopes: DEFAULT_SCOPES,
  first_party: false,
  require_par: false,
  branding: {},
  jwks: [],
  secret_hash: null,
  request_hash: null,
};

/** What was registered before a choice existed expects what it has always received. */
const BEFORE_TOKEN_CHOICES = {
  id_token_signed_response_alg: 'EdDSA',
  userinfo_signed_response_alg: null,
  dpop_bound_access_tokens: false,
};

const BEFORE_LOGOUT_NOTICES = {
  backchannel_logout_uri: null,
  backchannel_logout_session_required: false,
};

/** Scopes of the names of today gave an earlier application nothing here. */
const BEFORE_MACHINES = { roles: [], machine_scopes: [] };

type Change = Extract<ApplicationEvent, { type: 'ApplicationChanged' }>['data'];

/** All but how it is shown, which pages may read answers of the API, and where notices of ended sessions go. */
const changesAuthority = ({
  id: _id,
  name: _name,
  environment: _environment,
  branding: _branding,
  allowed_origins: _origins,
  backchannel_logout_uri: _logoutUri,
  backchannel_logout_session_required: _sessionRequired,
  tokens_before: _before,
  ...authority
}: Change): boolean => Object.keys(authority).length > 0;

export const applications: Stream<Application, ApplicationEvent> = {
  noun: 'application',
  initial: { status: 'none' },
  upcasters: {
    ApplicationCreated: [
      (data) => ({ ...BEFORE_OAUTH, ...data }),
      // Version 2 was written both with and without the two algorithms.
      (data) => ({ ...BEFORE_TOKEN_CHOICES, ...data }),
      (data) => ({ post_logout_redirect_uris: [], ...data, ...BEFORE_MACHINES }),
      (data) => ({ ...BEFORE_LOGOUT_NOTICES, ...data }),
      (data) => ({ require_pkce: true, ...data }),
      (data) => ({ claims: [], ...data }),
    ],
  },
  evolve: (before, { type, data }) => {
    if (type === 'ApplicationCreated') {
      const { secret_hash, request_hash: requestHash, ...facts } = data;
      const secret = secret_hash === null ? null : firstSecret(secret_hash);
      const first = { version: 1, tokensBefore: 0, previousKey: null, secret, requestHash };
      return { status: 'active', ...facts, ...first };
    }
    if (before.status === 'none') return before;
    switch (type) {
      case 'ApplicationChanged': {
        const { tokens_before: tokensBefore = before.tokensBefore, ...fields } = data;
        const version = before.version + (changesAuthority(data) ? 1 : 0);
        return { ...before, ...fields, version, tokensBefore };
      }
      case 'PublishableKeyRotated': {
        const { previous_key: key, previous_until: until } = data;
        const previousKey = key === null || until === null ? null : { key, until };
        return { ...before, publishable_key: data.publishable_key, previousKey };
      }
      case 'ClientSecretRotated':
        return {
          ...before,
          secret: before.secret && afterRotation(before.secret, data),
          tokensBefore: data.tokens_before ?? before.tokensBefore,
        };
      case 'ApplicationDeleted':
        return { ...before, status: 'deleted' };
    }
  },
};
