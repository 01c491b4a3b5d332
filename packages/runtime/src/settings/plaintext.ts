/**
 * Finds servers with which a process communicates in plaintext over a network. Anybody on the path can read secrets and
 * events, and may change them. Loopback and local sockets are not a network.
 */

import type { Logger } from '../ports.ts';
import { isLoopbackHost, withoutBrackets } from './loopback.ts';
import type { Settings } from './settings.ts';

/** `server` is host:port, as in CARDEA_ALLOW_PLAINTEXT. Nothing else of the setting is shown. */
export type PlaintextServer = {
  readonly setting: keyof Settings;
  readonly server: string;
  /** Whether CARDEA_ALLOW_PLAINTEXT names it. */
  readonly allowed: boolean;
};
type Server = { readonly host: string; readonly port: string };

const PORTS = { postgres: '5432', redis: '6379', eventstore: '2113', smtp: '587', http: '80' };

/** The settings that {@link plaintextServers} checks. A setting that was wrong is missing. */
type SpeakingSettings = Partial<
  Pick<
    Settings,
    | 'DATABASE_URL'
    | 'MIGRATION_DATABASE_URL'
    | 'REDIS_URL'
    | 'EVENTSTORE_URL'
    | 'KAFKA_BROKERS'
    | 'KAFKA_TLS'
    | 'SMTP_URL'
    | 'OTEL_EXPORTER_OTLP_ENDPOINT'
    | 'CARDEA_ALLOW_PLAINTEXT'
  >
>;

export function plaintextServers(settings: SpeakingSettings): readonly PlaintextServer[] {
  const { DATABASE_URL, MIGRATION_DATABASE_URL, REDIS_URL, EVENTSTORE_URL, SMTP_URL } = settings;
  const owner = MIGRATION_DATABASE_URL?.reveal();
  const found: { readonly [Name in keyof Settings]?: readonly Server[] } = {
    DATABASE_URL: ofPostgres(DATABASE_URL?.reveal()),
    MIGRATION_DATABASE_URL: owner === DATABASE_URL?.reveal() ? [] : ofPostgres(owner),
    REDIS_URL: ofScheme(REDIS_URL?.reveal(), 'redis:', PORTS.redis),
    EVENTSTORE_URL: ofEventStore(EVENTSTORE_URL?.reveal()),
    KAFKA_BROKERS: settings.KAFKA_TLS ? [] : (settings.KAFKA_BROKERS ?? []).map(ofBroker),
    SMTP_URL: ofMail(SMTP_URL?.reveal()),
    OTEL_EXPORTER_OTLP_ENDPOINT: ofScheme(
      settings.OTEL_EXPORTER_OTLP_ENDPOINT,
      'http:',
      PORTS.http,
    ),
  };
  const allowed = (settings.CARDEA_ALLOW_PLAINTEXT ?? []).map((each) => each.toLowerCase());
  return Object.entries(found).flatMap(([setting, servers]) =>
    servers
      .filter(({ host }) => host !== '' && !isLoopbackHost(withoutBrackets(host)))
      .map(({ host, port }) => ({
        setting: setting as keyof Settings,
        server: `${host}:${port}`,
        allowed: allowed.includes(host) || allowed.includes(`${host}:${port}`),
      })),
  );
}

/** Returns why a start is refused where TLS is required, without any value. */
export function plaintextFaults(
  settings: SpeakingSettings & Partial<Pick<Settings, 'CARDEA_REQUIRE_TLS'>>,
): readonly { readonly name: string; readonly fault: string; readonly form: string }[] {
  if (settings.CARDEA_REQUIRE_TLS !== true) return [];
  const names = plaintextServers(settings)
    .filter(({ allowed }) => !allowed)
    .map(({ setting }) => setting);
  return [...new Set(names)].map((name) => ({
    name,
    fault: 'speaks plaintext to a server elsewhere',
    form: 'TLS, or the server in CARDEA_ALLOW_PLAINTEXT',
  }));
}

/** Logs one line at each start, even if the servers are allowed. */
export function warnOfPlaintext(settings: SpeakingSettings, log: Pick<Logger, 'warn'>): void {
  const servers = plaintextServers(settings).map(({ setting, server }) => `${setting} ${server}`);
  if (servers.length > 0) log.warn({ servers }, 'servers are spoken to in plaintext');
}

const NONE: readonly Server[] = [];
const serverOf = ({ hostname, port }: URL, usual: string): Server => ({
  host: hostname.toLowerCase(),
  port: port || usual,
});

/** Evaluates the parameters of node-postgres. Each of them requires TLS, none falls back. */
function ofPostgres(text: string | undefined): readonly Server[] {
  const url = URL.parse(text ?? '');
  if (url === null) return NONE;
  const given = Object.fromEntries(url.searchParams);
  const { sslmode, ssl, sslcert, sslkey, sslrootcert, sslnegotiation } = given;
  if (sslmode === 'disable') return [postgresServer(url, given)];
  const isTls =
    Boolean(sslmode || sslcert || sslkey || sslrootcert) ||
    ['true', '1'].includes(ssl ?? '') ||
    (sslnegotiation === 'direct' && ssl === undefined);
  return isTls ? NONE : [postgresServer(url, given)];
}

/** A parameter overrides the host. A path is a local socket. */
function postgresServer(url: URL, given: { readonly [name: string]: string }): Server {
  const { host, port } = serverOf(url, PORTS.postgres);
  const named = given['host']?.toLowerCase() || host;
  return { host: /^(\/|%2f)/i.test(named) ? '' : named, port: given['port'] || port };
}

function ofScheme(text: string | undefined, plain: string, usual: string): readonly Server[] {
  const url = URL.parse(text ?? '');
  return url?.protocol === plain ? [serverOf(url, usual)] : NONE;
}

/** TLS unless it is disabled. One URL may name several nodes. */
function ofEventStore(text = ''): readonly Server[] {
  const [, nodes = '', query = ''] =
    /^esdb(?:\+discover)?:\/\/(?:[^@/?]*@)?([^/?]*)[^?]*\??(.*)$/.exec(text) ?? [];
  const switches = [...new URLSearchParams(query.toLowerCase())];
  if (!switches.some(([name, value]) => name === 'tls' && value === 'false')) return NONE;
  return nodes.split(',').map((node) => {
    const [host = '', port = PORTS.eventstore] = node.toLowerCase().split(/:(?=\d+$)/);
    return { host, port };
  });
}

function ofBroker(broker: string): Server {
  const [host = '', port = ''] = broker.toLowerCase().split(':');
  return { host, port };
}

/** With optional STARTTLS, an attacker between the hosts can remove the offer. */
const ofMail = (text: string | undefined): readonly Server[] =>
  URL.parse(text ?? '')?.searchParams.get('requireTLS') === 'true'
    ? NONE
    : ofScheme(text, 'smtp:', PORTS.smtp);
