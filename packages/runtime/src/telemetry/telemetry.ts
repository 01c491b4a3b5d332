import {
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  type Link,
  ProxyTracerProvider,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { Settings } from '../settings/settings.ts';
import { traceDrivers } from './driver-spans.ts';

/** The only attributes that spans may have. */
export type SpanAttributes = {
  readonly [Name in
    | 'service'
    | 'command'
    | 'log'
    | 'projection'
    | 'topic'
    | 'consumer'
    | 'route'
    | 'method'
    | 'status'
    | 'outcome'
    | 'events'
    | 'attempt']?: string | number;
};

export type SpanOptions = {
  readonly attributes?: SpanAttributes;
  /** The caller's `traceparent`. The span becomes its child. */
  readonly parent?: string | undefined;
  /** Returns the `traceparent`s of its causes, e.g. of the events of a batch. */
  readonly links?: () => readonly (string | undefined)[];
};

const LINKS_MAX = 32;
const tracer = trace.getTracer('cardea');

/** The span of work that is not traced. */
const UNRECORDED = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** Runs the work inside a span, and ends the span with it. Without an SDK it only runs the work. */
export function span<T>(
  name: string,
  work: (span: Span) => Promise<T>,
  options: SpanOptions = {},
): Promise<T> {
  if (options.parent === undefined && !isTraced()) return work(UNRECORDED);
  const parent = options.parent === undefined ? context.active() : contextOf(options.parent);
  const links = (options.links?.() ?? []).slice(0, LINKS_MAX).flatMap(linkTo);
  return tracer.startActiveSpan(
    name,
    { attributes: options.attributes ?? {}, links },
    parent,
    async (current) => {
      try {
        return await work(current);
      } catch (error) {
        // Only the error's name is recorded, because messages of libraries quote their input.
        const message = error instanceof Error ? error.name : 'error';
        current.setStatus({ code: SpanStatusCode.ERROR, message });
        throw error;
      } finally {
        current.end();
      }
    },
  );
}

export type RequestSpan = {
  /** The span's own `traceparent` if a span is recorded, because it is the nearer cause. Otherwise the caller's. */
  readonly traceparent: string | undefined;
  /** Spans of the work become its children. */
  within<T>(work: () => T): T;
  end(name: string, attributes: SpanAttributes & { readonly status: number }): void;
};

const FAULT_STATUS = 500;

/** The span around an incoming request. Its route is known only at its end. Undefined if the request is not traced. */
export function requestSpan(traceparent: string | undefined): RequestSpan | undefined {
  if (traceparent === undefined && !isTraced()) return undefined;
  const parent = traceparent === undefined ? context.active() : contextOf(traceparent);
  const current = tracer.startSpan('request', { kind: SpanKind.SERVER }, parent);
  if (!isSpanContextValid(current.spanContext())) return undefined;
  const inside = trace.setSpan(parent, current);
  return {
    traceparent: printed(current),
    within: (work) => context.with(inside, work),
    end: (name, attributes) => {
      current.updateName(name).setAttributes(attributes);
      if (attributes.status >= FAULT_STATUS) current.setStatus({ code: SpanStatusCode.ERROR });
      current.end();
    },
  };
}

/** False while no SDK has registered. Without one no trace begins here. */
function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  return (
    !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('cardea') !== undefined
  );
}

/** The W3C `traceparent` of the current span. Undefined outside a trace. */
export function currentTraceparent(): string | undefined {
  const current = trace.getActiveSpan();
  return current && printed(current);
}

function printed(current: Span): string | undefined {
  const at = current.spanContext();
  if (!isSpanContextValid(at)) return undefined;
  return `00-${at.traceId}-${at.spanId}-${at.traceFlags.toString(16).padStart(2, '0')}`;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Null if the text is no `traceparent` of version 00. */
function spanContextOf(traceparent: string) {
  const found = TRACEPARENT.exec(traceparent);
  if (found === null) return null;
  const [, traceId = '', spanId = '', flags = '00'] = found;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const at = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(at) ? at : null;
}

function contextOf(traceparent: string): Context {
  const at = spanContextOf(traceparent);
  return at === null ? context.active() : trace.setSpanContext(context.active(), at);
}

function linkTo(traceparent: string | undefined): Link[] {
  const at = traceparent === undefined ? null : spanContextOf(traceparent);
  return at === null ? [] : [{ context: at }];
}

/**
 * Loads the SDK if an endpoint is set, and returns how to flush and stop it. The exporter reads its endpoint and
 * headers from the standard variables itself. Only spans are exported, ours and those of Express and ioredis: no
 * detectors (they would send the command line), no metrics, no logs.
 */
export async function startTelemetry(
  settings: Pick<Settings, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_TRACES_SAMPLER_ARG'>,
  of: { readonly service: string; readonly version: string },
): Promise<() => Promise<void>> {
  if (settings.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return async () => {};
  process.env['OTEL_TRACES_SAMPLER'] ??= 'parentbased_traceidratio';
  process.env['OTEL_TRACES_SAMPLER_ARG'] = String(settings.OTEL_TRACES_SAMPLER_ARG);
  const { startNodeSdk } = await import('@opentelemetry/sdk-node');
  const sdk = startNodeSdk({
    logLevel: 'none',
    resourceAttributes: { 'service.name': of.service, 'service.version': of.version },
    resourceDetectors: [],
    metricReaders: [],
    logRecordProcessors: [],
  });
  await traceDrivers(trace.getTracerProvider());
  return () => sdk.shutdown();
}
