/** Metrics of the API port. Label values are from closed sets (route templates, never paths). */
import { SeriesHistogram } from '@cardea/runtime';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export type HttpMetrics = {
  /** The duration by method, route and status. */
  readonly duration: SeriesHistogram;
  readonly inFlight: Gauge;
  readonly consistencyWait: Histogram;
  readonly consistencyTimeouts: Counter;
};

/** Registers the metrics, or returns those that another server of this process registered. */
export function httpMetrics(registry: Registry = new Registry()): HttpMetrics {
  const registers = [registry];
  const found = <T>(name: string, make: () => T): T =>
    (registry.getSingleMetric(name) as T | undefined) ?? make();
  return {
    duration: found('cardea_http_request_duration_seconds', () => {
      const duration = new SeriesHistogram({
        name: 'cardea_http_request_duration_seconds',
        help: 'Time from the head of a request to the end of its answer.',
        labelNames: ['method', 'route', 'status'],
        buckets: SECONDS,
      });
      registry.registerMetric(duration as unknown as Histogram);
      return duration;
    }),
    inFlight: found(
      'cardea_http_in_flight',
      () =>
        new Gauge({
          name: 'cardea_http_in_flight',
          help: 'Requests without an answer.',
          registers,
        }),
    ),
    consistencyWait: found(
      'cardea_consistency_wait_seconds',
      () =>
        new Histogram({
          name: 'cardea_consistency_wait_seconds',
          help: 'Wait for projections, after a write or before a read with a token.',
          buckets: SECONDS,
          registers,
        }),
    ),
    consistencyTimeouts: found(
      'cardea_consistency_timeouts_total',
      () =>
        new Counter({
          name: 'cardea_consistency_timeouts_total',
          help: 'Waits for projections that ended without them.',
          registers,
        }),
    ),
  };
}
