/**
 * An application of a tenant: how a client identifies itself, and what it may ask the authorization server
 * for. Its id is its client id; its publishable key is no secret.
 */
import type { Stream } from '@cardea/event-store';
import {
  afterRotation,
  firstSecret,
  type KeySecret,
  type RotatedSecret,
} from '../../streams/key-secret.ts';
import type { Branding } from '../tenants/tenant.ts';

export const APPLICATION_TYPES = ['spa', 'native', 'web', 'm2m'] as const;
export type ApplicationType = (typeof APPLICATION_TYPES)[number];

export const GRANT_TYPES = ['authorization_code', 'refresh_token', 'client_credentials'] as const;
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
  /** Origins whose pages may call the API. */
  readonly allowed_origins: readonly string[];
  readonly grant_types: readonly GrantType[];
  /** Scopes that it may ask for. */
  readonly scopes: readonly string[];
  /** The tenant's own: its users are not asked for their consent. */
  readonly first_party: boolean;
  readonly require_par: boolean;
  /** Where it differs from the tenant's. */
  readonly branding: Partial<Branding>;
  /** With any, the client authenticates with one of them and with no secret. */
  readonly jwks: readonly ClientJwk[];
};
export type ApplicationFacts = ApplicationFields & {
  readonly id: string;
  readonly type: ApplicationType;
  readonly publishable_key: string;
  readonly created_at: string;
};

export type ExistingApplication = ApplicationFacts & {
  readonly status: 'active' | 'deleted';
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
export type ApplicationEvent =
  | { readonly type: 'ApplicationCreated'; readonly data: Created }
  | {
      readonly type: 'ApplicationChanged';
      readonly data: Partial<ApplicationFields> & { readonly id: string };
    }
  | {
      readonly type: 'PublishableKeyRotated';
      readonly data: {
        readonly id: string;
        readonly publishable_key: string;
        readonly previous_key: string | null;
        readonly previous_until: string | null;
      };
    }
  | {
      readonly type: 'ClientSecretRotated';
      readonly data: RotatedSecret & { readonly id: string };
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

export const applications: Stream<Application, ApplicationEvent> = {
  noun: 'application',
  initial: { status: 'none' },
  upcasters: { ApplicationCreated: [(data) => ({ ...BEFORE_OAUTH, ...data })] },
  evolve: (before, { type, data }) => {
    if (type === 'ApplicationCreated') {
      const { secret_hash, request_hash: requestHash, ...facts } = data;
      const secret = secret_hash === null ? null : firstSecret(secret_hash);
      return { status: 'active', ...facts, previousKey: null, secret, requestHash };
    }
    if (before.status === 'none') return before;
    switch (type) {
      case 'ApplicationChanged':
        return { ...before, ...data };
      case 'PublishableKeyRotated': {
        const { previous_key: key, previous_until: until } = data;
        const previousKey = key === null || until === null ? null : { key, until };
        return { ...before, publishable_key: data.publishable_key, previousKey };
      }
      case 'ClientSecretRotated':
        return { ...before, secret: before.secret && afterRotation(before.secret, data) };
      case 'ApplicationDeleted':
        return { ...before, status: 'deleted' };
    }
  },
};
