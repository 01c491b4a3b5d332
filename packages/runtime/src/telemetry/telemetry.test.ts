import { TraceFlags, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { metrics } from './metrics.ts';
import { currentTraceparent, span, startTelemetry } from './telemetry.ts';

describe('telemetry without an SDK', () => {
  it('runs the work, and passes on what it throws', async () => {
    expect(await span('append', async () => 7, { links: () => [undefined, 'nonsense'] })).toBe(7);
    await expect(span('append', () => Promise.reject(new Error('x')))).rejects.toThrow('x');
    expect(currentTraceparent()).toBeUndefined();
    const stop = await startTelemetry(
      { OTEL_EXPORTER_OTLP_ENDPOINT: undefined, OTEL_TRACES_SAMPLER_ARG: 1 },
      { service: 'identity', version: '0' },
    );
    await stop();
  });

  it('carries a trace that came with a call', async () => {
    const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await span(
      'command',
      async (current) => {
        expect(current.spanContext()).toMatchObject({
          traceId: '0af7651916cd43dd8448eb211c80319c',
          traceFlags: TraceFlags.SAMPLED,
        });
        expect(trace.isSpanContextValid(current.spanContext())).toBe(true);
      },
      { parent },
    );
  });
});

describe('the metrics', () => {
  it('are named with our prefix', async () => {
    metrics.httpRequestDuration.observe(0.01, 'GET', '/health', 200);
    const names = (await metrics.registry.getMetricsAsJSON()).map(({ name }) => name);
    expect(names.every((name) => name.startsWith('cardea_'))).toBe(true);
    expect(names).toContain('cardea_http_request_duration_seconds');
  });
});
