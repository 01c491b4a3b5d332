import type { Secret } from './secret.ts';

/**
 * Every setting of the product, read once at the start (`docs/design/operations.md`, Settings). Secrets are
 * wrapped, so that a log or an inspection of the whole shows nothing. Started standalone, the launcher
 * fills in what it makes itself: an empty `DATABASE_URL`, `JWT_SECRET` or `ENCRYPTION_KEY` says so.
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
  /** With a password: SCRAM-SHA-512. */
  readonly KAFKA_USERNAME: Secret | undefined;
  readonly KAFKA_PASSWORD: Secret | undefined;
  /** Copies of each record; read by `topics create` alone. */
  readonly KAFKA_REPLICATION: number;
  readonly JWT_SECRET: Secret;
  readonly JWT_SECRET_PREVIOUS: Secret | undefined;
  readonly ENCRYPTION_KEY: Secret;
  readonly ENCRYPTION_KEY_PREVIOUS: Secret | undefined;
  /** The key of a service with secrets of its own (`cardea env derive`), for those who call it. */
  readonly INTERNAL_KEY: Secret | undefined;
  /** The bearers that it shows to those that it calls. */
  readonly INTERNAL_BEARERS: Secret | undefined;
  readonly PAGES_KEY: Secret | undefined;
  /** The secrets are the deployment's, and each service has its own ones, derived from them. */
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
  /** A MaxMind database of cities; without it no address has a place. */
  readonly GEOIP_DB_PATH: string | undefined;
  readonly TRUSTED_PROXIES: readonly string[];
  /** The gateway reads this setting itself; it stands here for `doctor` alone. */
  readonly GATEWAY_TRUSTED_PROXIES: readonly string[];
  readonly IDENTITY_INTERNAL_URL: string;
  readonly APPROVAL_INTERNAL_URL: string;
  readonly AUTHZ_INTERNAL_URL: string;
  readonly RATE_LIMIT_FACTOR: number;
  /** KiB. */
  readonly ARGON2_MEMORY: number;
  readonly ARGON2_TIME: number;
  readonly HASH_CONCURRENCY: number;
  /** `off` leads every request through Express' router. */
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
  /** Milliseconds; the contract's schedule unless a test names another. */
  readonly WEBHOOK_RETRY_DELAYS: readonly number[];
  /** Milliseconds by which an index of relationship tuples may lag before it answers nothing. */
  readonly AUTHZ_MAX_STALENESS: number;
  /** Bytes that all indexes of relationship tuples may use together, by estimate. */
  readonly AUTHZ_INDEX_MAX_BYTES: number;
  /** Folder of saved indexes; none are saved without it. */
  readonly AUTHZ_SNAPSHOT_DIR: string | undefined;
  readonly VAULT_SESSION_RATE: number;
  readonly VAULT_REVEAL: 'off' | 'on';
  /** Where standalone keeps mail and data; undefined in containers. */
  readonly CARDEA_DATA: string | undefined;
  /** Plaintext to a server elsewhere ends the start, unless it is named below. */
  readonly CARDEA_REQUIRE_TLS: boolean;
  /** `host` or `host:port`. */
  readonly CARDEA_ALLOW_PLAINTEXT: readonly string[];
};

/** The environment of a process, or what a test makes up. */
export type Environment = { readonly [name: string]: string | undefined };

/** The fault of one setting and the form that it should have, never its value. */
export type SettingFault = { readonly name: string; readonly fault: string; readonly form: string };
