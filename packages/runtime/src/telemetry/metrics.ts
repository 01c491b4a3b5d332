import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock, Loops } from '../ports.ts';
import { SeriesHistogram } from './series-histogram.ts';

/**
 * Every metric of the process (`docs/design/operations.md`, Metrics, traces, logs). Label values come from closed sets
 * (route templates, names of rules, projections, topics), never from a path, a tenant, a user or an address.
 */
const registry = new Registry();
const PREFIX = 'cardea_';
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const COUNTS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

const at = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) => ({
  name: `${PREFIX}${name}`,
  help,
  labelNames,
  registers: [registry],
});
const counter = <L extends string = never>(name: string, help: string, ...labels: L[]) =>
  new Counter<L>(at(name, help, labels));
const gauge = <L extends string = never>(name: string, help: string, ...labels: L[]) =>
  new Gauge<L>(at(name, help, labels));
const seconds = <L extends string = never>(name: string, help: string, ...labels: L[]) =>
  new Histogram<L>({ ...at(name, help, labels), buckets: SECONDS });

/** Buckets for values that are observed at every request. */
const quickSeconds = (name: string, help: string, ...labels: string[]) => {
  const { registers: _, ...of } = at(name, help, labels);
  const histogram = new SeriesHistogram({ ...of, buckets: SECONDS });
  registry.registerMetric(histogram as unknown as Histogram);
  return histogram;
};

export const metrics = {
  registry,
  httpRequestDuration: quickSeconds(
    'http_request_duration_seconds',
    'From the request line to the last byte of the answer.',
    'method',
    'route',
    'status',
  ),
  httpInFlight: gauge('http_in_flight', 'Requests that have no answer yet.'),
  rateLimited: counter('rate_limited_total', 'Requests that a limit refused.', 'rule'),

  commands: counter('command_total', 'Commands by outcome.', 'command', 'outcome'),
  appendDuration: seconds('append_duration_seconds', 'From the call until the events are durable.'),
  appendBatchEvents: new Histogram({
    ...at('append_batch_events', 'Events that one transaction stored.', []),
    buckets: COUNTS,
  }),
  appendQueue: gauge('append_queue', 'Appends that wait for a connection.'),
  logHead: gauge('log_head', 'Last position of a log.', 'log'),

  projectionLagEvents: gauge(
    'projection_lag_events',
    'Events not yet projected; counted up to 500.',
    'projection',
  ),
  projectionLagSeconds: gauge(
    'projection_lag_seconds',
    'Age of the first event not yet projected.',
    'projection',
  ),
  parkedStreams: gauge('parked_streams', 'Streams parked after a failure.', 'consumer'),
  consistencyWait: seconds(
    'consistency_wait_seconds',
    'How long a request waited for its projections.',
  ),
  consistencyTimeouts: counter(
    'consistency_timeouts_total',
    'Requests that stopped waiting for their projections.',
  ),

  relayLagEvents: gauge(
    'relay_lag_events',
    'Events not yet published; counted up to 500.',
    'topic',
  ),
  relayOldest: gauge('relay_oldest_seconds', 'Age of the first event not yet published.', 'topic'),
  consumerLagEvents: gauge(
    'consumer_lag_events',
    'Records that a consumer has not applied.',
    'consumer',
    'topic',
  ),
  consumerDuplicates: counter(
    'consumer_duplicates_total',
    'Records skipped because they were applied before.',
    'consumer',
  ),
  deadLetters: counter('dead_letters_total', 'Records without a readable envelope.', 'consumer'),

  logins: counter('login_total', 'Sign-ins by outcome.', 'outcome'),
  refreshReplays: counter('refresh_replays_total', 'Refresh tokens that were used a second time.'),
  signingKeysUnreadable: counter(
    'signing_keys_unreadable_total',
    'Signing keys that no JWT_SECRET decrypts; new keys replaced them.',
  ),
  hashQueueDepth: gauge('hash_queue_depth', 'Password hashes that wait for a permit.'),
  checkDuration: quickSeconds('check_duration_seconds', 'Evaluation of one authorization check.'),
  tableAnswers: counter(
    'authz_table_answers_total',
    'Questions about tuples answered from the table, because no fresh index was in memory.',
  ),
  barrierWait: seconds(
    'authz_barrier_wait_seconds',
    'How long a change of tuples waited for the other replicas.',
  ),
  vends: counter('vend_total', 'Credential vends by outcome.', 'outcome'),
  decryptionFailures: counter(
    'vault_decryption_failures_total',
    'Stored secrets of the vault that did not decrypt.',
  ),
  approvalsPending: gauge('approvals_pending', 'Approval requests that wait for a decision.'),
  longPollsOpen: gauge('long_polls_open', 'Long polls that are open.'),
  webhookAttempts: counter('webhook_attempts_total', 'Delivery attempts by outcome.', 'outcome'),
  notices: counter(
    'notices_total',
    'Logout notices to applications, mail of identity and messages about approvals, by outcome of each attempt.',
    'kind',
    'outcome',
  ),
  webhookOldestDue: gauge('webhook_oldest_due_seconds', 'How long the oldest delivery is due.'),

  auditIntegrityAlarms: counter(
    'audit_integrity_alarm',
    'Audit rows that arrived a second time with other content.',
  ),

  poolWaiting: gauge('pool_waiting', 'Callers that wait for a database connection.', 'pool'),
  poolTimeouts: counter('pool_timeouts_total', 'Callers that got no connection in time.', 'pool'),
  nestedConnections: counter(
    'nested_connections_total',
    'Connections that were requested inside an open transaction.',
  ),
  dependencyUp: gauge('dependency_up', '1 while a dependency answers.', 'name'),
  buildInfo: gauge('build_info', 'Always 1; the version is in the label.', 'version'),
} as const;

/**
 * The interval of measurements. Each one wakes the process, even when it has nothing to do. A pause of this length is
 * always detected.
 */
const DELAY_LOOK_MS = 250;
const NANOSECONDS_PER_MS = 1e6;

type Process = { readonly version: string; readonly loops: Loops; readonly clock: Clock };
let measured: Process | undefined;

/**
 * Adds the metrics that are measured at each scrape: the loops' ticks, the event loop and the process. The last call
 * wins.
 */
export function measureProcess(of: Process): void {
  const before = measured;
  measured = of;
  if (before === undefined) register(of);
}

function register(of: Process): void {
  collectDefaultMetrics({
    register: registry,
    prefix: PREFIX,
    eventLoopMonitoringPrecision: DELAY_LOOK_MS,
  });
  metrics.buildInfo.set({ version: of.version }, 1);
  const delay = monitorEventLoopDelay({ resolution: DELAY_LOOK_MS });
  delay.enable();
  new Gauge({
    ...at('event_loop_delay_seconds', 'Longest delay of the event loop since the last scrape.', []),
    collect() {
      // The monitor records the time between two of its checks.
      const delayMs = delay.max / NANOSECONDS_PER_MS - DELAY_LOOK_MS;
      this.set(Math.max(0, delayMs) / 1000);
      delay.reset();
    },
  });
  new Gauge({
    ...at('loop_last_tick_seconds', 'Age of the last tick of a loop.', ['loop'] as const),
    collect() {
      this.reset();
      const { loops, clock } = measured ?? of;
      for (const { name, lastTickMs } of loops.state()) {
        this.set({ loop: name }, (clock.monotonicMs() - lastTickMs) / 1000);
      }
    },
  });
}
