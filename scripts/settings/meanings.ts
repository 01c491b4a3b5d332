/** The description of each setting, in a sentence or two; a setting without one does not compile. */
import type { Settings } from '@cardea/runtime';

export type Meaning = {
  readonly group: keyof typeof GROUPS;
  readonly text: string;
  /** The processes that read it, if not all do. */
  readonly readBy?: string;
  /** The default, if it depends on the machine. */
  readonly otherwise?: string;
};

export const GROUPS = {
  process: 'Process',
  stores: 'Database, events, topics, cache',
  secrets: 'Secrets',
  identity: 'Accounts, sessions, tokens',
  mail: 'Mail',
  between: 'Addresses, proxies and TLS',
  areas: 'Single areas',
  telemetry: 'Traces',
} as const;

const EVERYWHERE = 'The same in all services.';

export const MEANINGS: { readonly [Name in keyof Settings]: Meaning } = {
  ENV: {
    group: 'process',
    text: 'Development allows what helps while trying out: the mailbox without a mail server, webhooks and redirects to loopback over http, wider limits per address, credentials in the banner. Authentication, isolation of tenants and headers are the same. Production refuses the secrets of `.env.example`.',
  },
  LOG_LEVEL: {
    group: 'process',
    text: 'What is logged. `npm run cardea -- loglevel debug --ttl 600` changes it for a while.',
  },
  PORT: { group: 'process', text: 'The API.' },
  MANAGEMENT_PORT: {
    group: 'process',
    text: 'Probes and metrics: `/livez`, `/readyz`, `/startupz`, `/metrics`. Never for the public.',
  },
  INTERNAL_PORT: {
    group: 'process',
    readBy: 'identity, approval, authz',
    text: 'What other services ask: public keys, introspection, approvals, who holds a relation. Never for the public.',
  },
  HOST: {
    group: 'process',
    text: 'Address that all three ports are bound to.',
    otherwise: 'standalone: 127.0.0.1 and ::1',
  },
  HTTP_FAST_PATH: {
    group: 'process',
    text: "`off` leads requests to paths without parameters through Express' router too, which finds them more slowly. Answers are the same.",
  },
  SHUTDOWN_DELAY: {
    group: 'process',
    text: 'How long a process goes on taking requests after SIGTERM, while others still send it some.',
  },
  SHUTDOWN_TIMEOUT: {
    group: 'process',
    text: 'After that long a stop is given up with exit code 1. Orchestrators have to wait longer.',
  },
  CARDEA_DATA: {
    group: 'process',
    readBy: 'standalone',
    text: 'Data folder: secrets, PostgreSQL, mail.',
    otherwise: 'standalone: `.cardea`',
  },

  DATABASE_URL: {
    group: 'stores',
    text: 'PostgreSQL, as the user that the services log in as. It needs no rights of its own: `migrate` lets it become the two roles that everything runs as.',
  },
  MIGRATION_DATABASE_URL: {
    group: 'stores',
    readBy: '`migrate`, `projections rebuild`',
    text: 'The same database as its owner.',
  },
  DATABASE_POOL_SIZE: {
    group: 'stores',
    text: 'Connections of one process for requests. It holds up to 8 more: loops 4 (`npm start`: one for each loop), event store 3, one for locks and notices. Whoever waits 2 s for one is answered 503.',
  },
  REDIS_URL: {
    group: 'stores',
    text: 'The shared cache: revocations, rate limits, wake-ups. Without it a process goes on alone and says `degraded`.',
  },
  EVENTSTORE_URL: {
    group: 'stores',
    text: 'EventStoreDB, with the account that reads `$all` where it asks for one. Unset, events are kept in PostgreSQL. Decided once: events are not moved from one to the other.',
  },
  KAFKA_BROKERS: {
    group: 'stores',
    text: 'Kafka. Unset, topics are tables in PostgreSQL, and nobody but Cardea can listen.',
  },
  KAFKA_TLS: { group: 'stores', text: 'Whether brokers are spoken to by TLS.' },
  KAFKA_USERNAME: { group: 'stores', text: 'Together with the password: SCRAM-SHA-512.' },
  KAFKA_PASSWORD: { group: 'stores', text: 'See KAFKA_USERNAME.' },
  KAFKA_REPLICATION: {
    group: 'stores',
    readBy: '`topics create`',
    text: 'Copies of each record; `min.insync.replicas` is one less, at least 1.',
  },

  JWT_SECRET: {
    group: 'secrets',
    text: `What refresh tokens, mailed links and the calls between services are derived from. ${EVERYWHERE}`,
  },
  JWT_SECRET_PREVIOUS: {
    group: 'secrets',
    text: 'The one before, for reading alone, until what was made under it has run out.',
  },
  ENCRYPTION_KEY: {
    group: 'secrets',
    text: `What all other keys are wrapped under. Whoever loses it loses everything that is sealed. A start with another one is refused and writes nothing. ${EVERYWHERE}`,
  },
  ENCRYPTION_KEY_PREVIOUS: {
    group: 'secrets',
    text: 'The one before, for reading alone, until everything is wrapped anew.',
  },

  INTERNAL_KEY: {
    group: 'secrets',
    text: 'Of a service with secrets of its own: what the bearers of those who call it are derived from. `cardea env derive` prints it, and two of them while JWT_SECRET is changed.',
  },
  INTERNAL_BEARERS: {
    group: 'secrets',
    text: 'Of a service with secrets of its own: what it shows to the services that it calls. Together with INTERNAL_KEY.',
  },
  PAGES_KEY: {
    group: 'secrets',
    text: 'Of a service with secrets of its own: what the cookie of the pages is sealed under, the same in every service. Together with INTERNAL_KEY.',
  },
  CARDEA_COMPARTMENTS: {
    group: 'secrets',
    readBy: 'commands, standalone',
    text: 'Each service has secrets of its own, derived from the JWT_SECRET and ENCRYPTION_KEY that are given here. Not for services that were given theirs.',
  },
  ADMIN_EMAIL: {
    group: 'identity',
    readBy: 'identity',
    text: 'The first admin, made once; later changes do nothing. Both or none of e-mail and password.',
  },
  ADMIN_PASSWORD: {
    group: 'identity',
    readBy: 'identity',
    text: 'See ADMIN_EMAIL. In production at least 12 characters, and none of the 10,000 most common passwords.',
  },
  JWT_EXPIRY: {
    group: 'identity',
    text: `How long an access token lives. ${EVERYWHERE} Revocations are kept for an hour longer.`,
  },
  REFRESH_TOKEN_EXPIRY: {
    group: 'identity',
    readBy: 'identity',
    text: 'How long a session lives without being refreshed.',
  },
  SIGNUP_ENABLED: {
    group: 'identity',
    readBy: 'identity',
    text: 'Whether strangers may make an organization.',
  },
  CORS_ORIGINS: {
    group: 'between',
    text: 'Origins whose pages may call every tenant, beside those that applications of a tenant allow.',
  },
  IDENTITY_PRIVATE_ORIGINS: {
    group: 'identity',
    readBy: 'identity',
    text: 'Origins inside of your network that applications may name as receivers of logout notices. Every tenant can: name what is meant for all.',
  },
  INTROSPECT_REQUIRE_AUTH: {
    group: 'identity',
    readBy: 'identity',
    text: 'Whether `POST /oauth2/introspect` asks for a credential; one that is shown has to be right in any case.',
  },
  SIGNING_KEY_ROTATION_DAYS: {
    group: 'identity',
    readBy: 'identity',
    text: 'Age at which the key that signs tokens is replaced; the next one is published a day before.',
  },
  RATE_LIMIT_FACTOR: {
    group: 'identity',
    text: 'Multiplies the limits per address and per tenant. An address is one of IPv4, or the /64 of one of IPv6 and, at eight times the limit, its /48.',
  },
  ARGON2_MEMORY: {
    group: 'identity',
    readBy: 'identity',
    text: 'KiB per hash of a password. Old hashes are replaced at the next login.',
  },
  ARGON2_TIME: { group: 'identity', readBy: 'identity', text: 'Passes per hash.' },
  HASH_CONCURRENCY: {
    group: 'identity',
    readBy: 'identity',
    text: 'Hashes at once; what waits longer than it should is answered 503.',
    otherwise: 'CPUs less one',
  },

  SMTP_URL: {
    group: 'mail',
    readBy: 'identity, approval',
    text: 'Mail server. Unset, mail waits in production, and lands in the mailbox of a standalone instance in development.',
  },
  MAIL_FROM: { group: 'mail', readBy: 'identity, approval', text: 'Sender of all mail.' },

  PUBLIC_URL: {
    group: 'between',
    text: `Where people and clients find the API; links in mails begin with it. ${EVERYWHERE}`,
  },
  ISSUER: { group: 'between', text: `\`iss\` of tokens. ${EVERYWHERE}`, otherwise: 'PUBLIC_URL' },
  TRUSTED_PROXIES: {
    group: 'between',
    text: 'Whose X-Forwarded-For counts, read from right to left: the gateway, or whatever stands in front of a standalone instance.',
  },
  GATEWAY_TRUSTED_PROXIES: {
    group: 'between',
    readBy: 'the gateway, `doctor`',
    text: 'Whose X-Forwarded-For the gateway believes: what terminates TLS in front of it, and nobody else who can connect to it. Unset, it believes nobody, and all clients share the address of what stands in front.',
  },
  IDENTITY_INTERNAL_URL: {
    group: 'between',
    readBy: 'all but identity',
    text: "Identity's internal port.",
  },
  APPROVAL_INTERNAL_URL: { group: 'between', readBy: 'vault', text: "Approval's internal port." },
  AUTHZ_INTERNAL_URL: {
    group: 'between',
    readBy: 'approval, vault',
    text: "Authz's internal port.",
  },

  CARDEA_REQUIRE_TLS: {
    group: 'between',
    text: 'Whether a start ends with exit code 78 where a server that is not on loopback would be spoken to in plaintext: PostgreSQL without `sslmode`, `redis://`, brokers without KAFKA_TLS, EventStoreDB with `tls=false`, `smtp://` without `requireTLS=true`, a collector of traces by http. Without it a start warns, and so does `doctor`. What our own processes say to each other has no TLS of its own: keep it inside.',
  },
  CARDEA_ALLOW_PLAINTEXT: {
    group: 'between',
    text: 'Servers that may be spoken to in plaintext nevertheless, for the way to them is kept safe by other means.',
  },

  WEBHOOK_CONCURRENCY: {
    group: 'areas',
    readBy: 'webhook-dispatcher',
    text: 'Deliveries under way at once in one process.',
  },
  WEBHOOK_ALLOWED_CIDRS: {
    group: 'areas',
    readBy: 'webhook-dispatcher, approval',
    text: 'Private networks that webhooks and channels may reach nevertheless; never this host, link-local addresses, or those where a cloud hands out credentials.',
  },
  WEBHOOK_AUTO_DISABLE_DAYS: {
    group: 'areas',
    readBy: 'webhook-dispatcher',
    text: 'An endpoint that failed for so many days is switched off; 0: never.',
  },
  WEBHOOK_RETRY_DELAYS: {
    group: 'areas',
    readBy: 'webhook-dispatcher',
    text: 'Pauses between the six attempts; for tests.',
    otherwise: '30s,2m,10m,30m,2h',
  },
  AUTHZ_MAX_STALENESS: {
    group: 'areas',
    readBy: 'authz',
    text: 'Without a look at the end of the log for so long, questions are answered 503.',
  },
  AUTHZ_INDEX_MAX_BYTES: {
    group: 'areas',
    readBy: 'authz',
    text: 'Memory for the indexes of relationship tuples, by estimate. A tenant that does not fit in is answered by PostgreSQL; with 0 all are.',
    otherwise: 'a quarter of the memory that the process may use',
  },
  GEOIP_DB_PATH: {
    group: 'areas',
    readBy: 'identity, audit-projector',
    text: 'Database of cities in the format of MaxMind (GeoLite2-City, or one like it), which you provide: sessions and audit rows show places of public addresses. Read again within a minute of a change; one that is missing or broken is logged, and no address has a place.',
  },
  AUTHZ_SNAPSHOT_DIR: {
    group: 'areas',
    readBy: 'authz',
    text: 'Folder for indexes of more than 50,000 tuples, so that a start does not read them from the table. Of one process alone; its files have the ids of tuples in clear.',
  },
  VAULT_REVEAL: {
    group: 'areas',
    readBy: 'vault',
    text: 'Whether administrators may read values back, of services whose `reveal` is set. Each reading is recorded before the value leaves.',
  },
  VAULT_SESSION_RATE: {
    group: 'areas',
    readBy: 'vault',
    text: 'Vends of one agent session per second in one process; twice as many in a burst.',
  },

  OTEL_EXPORTER_OTLP_ENDPOINT: {
    group: 'telemetry',
    text: "Collector of traces: requests, routes of Express, commands, topics, deliveries, commands of Redis; nobody's data. Unset, nothing of it is loaded.",
  },
  OTEL_TRACES_SAMPLER_ARG: {
    group: 'telemetry',
    text: 'Share of requests that are traced, unless their caller decided.',
  },
};
