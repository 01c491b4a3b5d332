/**
 * An application of a tenant: how a client identifies itself, and what it may request from the authorization server.
 * Its id is its client id. Its publishable key is not secret.
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

/** The scopes of an application whose administrator names none. */
export const DEFAULT_SCOPES = ['openid', 'profile', 'email', 'offline_access'] as const;

/** A public key that verifies `private_key_jwt`, as a JWK. */
export type ClientJwk = { readonly [member: string]: string };

/** The fields that an administrator sets and may change. */
export type ApplicationFields = {
  readonly name: string;
  readonly environment: string;
  readonly redirect_uris: readonly string[];
  /** Addresses to which a browser may be redirected after a sign-out. */
  readonly post_logout_redirect_uris: readonly string[];
  /** Receives a notice when a session that involves the application ends. Null for none. */
  readonly backchannel_logout_uri: string | null;
  /** Whether a notice must name the session to be usable. */
  readonly backchannel_logout_session_required: boolean;
  /** Origins whose pages may call the API. */
  readonly allowed_origins: readonly string[];
  readonly grant_types: readonly GrantType[];
  /** The scopes that it may request. */
  readonly scopes: readonly string[];
  /** The tenant's own application. Its users are not asked for consent. */
  readonly first_party: boolean;
  readonly require_par: boolean;
  /** If false, PKCE may be omitted. Only confidential `web` applications may set it to false. */
  readonly require_pkce: boolean;
  /** The algorithm that signs its id_tokens. */
  readonly id_token_signed_response_alg: ClientAlgorithm;
  /** The algorithm that signs userinfo responses. Null for plain JSON. */
  readonly userinfo_signed_response_alg: ClientAlgorithm | null;
  /** Whether it gets tokens only with a proof of the key to which they are bound (RFC 9449). */
  readonly dpop_bound_access_tokens: boolean;
  /** Claims about its users in addition to those of OpenID Connect. */
  readonly claims: readonly ApplicationClaim[];
  /** The branding fields that differ from the tenant's branding. */
  readonly branding: Partial<Branding>;
  /** If there are any, the client authenticates with one of them and has no secret. */
  readonly jwks: readonly ClientJwk[];
  /** The roles of its own, for machines only. */
  readonly roles: readonly string[];
  /** The scopes that it may request at Cardea's own API for itself, for machines only. */
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
  /** Rises with each change of its permissions and of the addresses to which its users are redirected. */
  readonly version: number;
  /** Unix seconds: tokens issued to itself before this time are revoked. */
  readonly tokensBefore: number;
  /** The key before the last rotation, while it is valid. */
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
/** Unix seconds. Set if the event revokes tokens issued to the application itself. */
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

/** Defaults for events of the first releases, whose applications could not start a sign-in. */
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

/**
 * Defaults for applications that were registered before these options existed: they keep receiving what they always
 * received.
 */
const BEFORE_TOKEN_CHOICES = {
  id_token_signed_response_alg: 'EdDSA',
  userinfo_signed_response_alg: null,
  dpop_bound_access_tokens: false,
};

const BEFORE_LOGOUT_NOTICES = {
  backchannel_logout_uri: null,
  backchannel_logout_session_required: false,
};

/** Before machines existed, scopes with these names had no effect at Cardea's own API. */
const BEFORE_MACHINES = { roles: [], machine_scopes: [] };

type Change = Extract<ApplicationEvent, { type: 'ApplicationChanged' }>['data'];

/**
 * Whether a change concerns more than the application's appearance, the origins that may read responses, and the
 * address for logout notices.
 */
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
