import type { Secret } from './secret.ts';

/**
 * Every setting of the product, read once at the start (`docs/design/operations.md`, Settings). Secrets are wrapped, so
 * that a log or an inspection of all settings shows none. In standalone the launcher fills in what it creates itself;
 * an empty `DATABASE_URL`, `JWT_SECRET` or `ENCRYPTION_KEY` requests that.
 */
export type Settings = {
  readonly ENV: 'development' | 'production';
  readonly LOG_LEVEL: 'debug' | 'info' | 'warn' | 'error';
  readonly PORT: number;
  readonly MANAGEMENT_PORT: number;
  readonly INTERNAL_PORT: number;
  readonly HOST: string | undefined;
  readonly PUBLIC_URL: string;
  readonly ISSUER: string;
  readonly DATABASE_URL: Secret;
  readonly MIGRATION_DATABASE_URL: Secret;
  readonly DATABASE_POOL_SIZE: number;
  readonly REDIS_URL: Secret | undefined;
  readonly EVENTSTORE_URL: Secret | undefined;
  readonly KAFKA_BROKERS: readonly string[] | undefined;
  readonly KAFKA_TLS: boolean;
  /** Uses SCRAM-SHA-512 with the password. */
  readonly KAFKA_USERNAME: Secret | undefined;
  readonly KAFKA_PASSWORD: Secret | undefined;
  /** Copies of each record. Only `topics create` reads it. */
  readonly KAFKA_REPLICATION: number;
  readonly JWT_SECRET: Secret;
  readonly JWT_SECRET_PREVIOUS: Secret | undefined;
  readonly ENCRYPTION_KEY: Secret;
  readonly ENCRYPTION_KEY_PREVIOUS: Secret | undefined;
  /**
   * The key of a service with its own secrets (`cardea env derive`), from which its callers' bearer tokens are derived.
   */
  readonly INTERNAL_KEY: Secret | undefined;
  /** The bearer tokens that it sends to the services that it calls. */
  readonly INTERNAL_BEARERS: Secret | undefined;
  readonly PAGES_KEY: Secret | undefined;
  /** If true, the secrets are the deployment's, and each service uses its own ones, derived from them. */
  readonly CARDEA_COMPARTMENTS: boolean;
  readonly ADMIN_EMAIL: string | undefined;
  readonly ADMIN_PASSWORD: Secret | undefined;
  /** Seconds. */
  readonly JWT_EXPIRY: number;
  /** Seconds. */
  readonly REFRESH_TOKEN_EXPIRY: number;
  readonly SIGNING_KEY_ROTATION_DAYS: number;
  readonly SIGNUP_ENABLED: boolean;
  readonly INTROSPECT_REQUIRE_AUTH: boolean;
  readonly IDENTITY_PRIVATE_ORIGINS: readonly string[];
  /** Origins whose pages may call in every tenant. */
  readonly CORS_ORIGINS: readonly string[];
  readonly SMTP_URL: Secret | undefined;
  readonly MAIL_FROM: string;
  /** A MaxMind database of cities. Without it no address has a location. */
  readonly GEOIP_DB_PATH: string | undefined;
  readonly TRUSTED_PROXIES: readonly string[];
  /** The gateway reads this setting itself. It is here only for `doctor`. */
  readonly GATEWAY_TRUSTED_PROXIES: readonly string[];
  readonly IDENTITY_INTERNAL_URL: string;
  readonly APPROVAL_INTERNAL_URL: string;
  readonly AUTHZ_INTERNAL_URL: string;
  readonly RATE_LIMIT_FACTOR: number;
  /** KiB. */
  readonly ARGON2_MEMORY: number;
  readonly ARGON2_TIME: number;
  readonly HASH_CONCURRENCY: number;
  /** `off` routes every request through Express. */
  readonly HTTP_FAST_PATH: 'on' | 'off';
  /** Milliseconds. */
  readonly SHUTDOWN_DELAY: number;
  /** Milliseconds. */
  readonly SHUTDOWN_TIMEOUT: number;
  readonly OTEL_EXPORTER_OTLP_ENDPOINT: string | undefined;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
  readonly WEBHOOK_CONCURRENCY: number;
  readonly WEBHOOK_ALLOWED_CIDRS: readonly string[];
  readonly WEBHOOK_AUTO_DISABLE_DAYS: number;
  /** Milliseconds. The contract's schedule unless a test sets another one. */
  readonly WEBHOOK_RETRY_DELAYS: readonly number[];
  /** Milliseconds by which an index of relationship tuples may lag before it stops answering. */
  readonly AUTHZ_MAX_STALENESS: number;
  /** Bytes that all indexes of relationship tuples may use together, by estimate. */
  readonly AUTHZ_INDEX_MAX_BYTES: number;
  /** The folder of saved indexes. Without it none are saved. */
  readonly AUTHZ_SNAPSHOT_DIR: string | undefined;
  readonly VAULT_SESSION_RATE: number;
  readonly VAULT_REVEAL: 'off' | 'on';
  /** The folder in which standalone stores mail and data. Undefined in containers. */
  readonly CARDEA_DATA: string | undefined;
  /** Whether plaintext to another host prevents the start, unless the host is named below. */
  readonly CARDEA_REQUIRE_TLS: boolean;
  /** `host` or `host:port`. */
  readonly CARDEA_ALLOW_PLAINTEXT: readonly string[];
};

/** The environment of a process, or one that a test makes up. */
export type Environment = { readonly [name: string]: string | undefined };

/** The fault of one setting and the form that it should have, never its value. */
export type SettingFault = { readonly name: string; readonly fault: string; readonly form: string };
