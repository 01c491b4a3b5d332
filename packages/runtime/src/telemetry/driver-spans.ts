/**
 * Spans of third-party drivers. Express names the route that it runs, ioredis the command. Both would add more than
 * that (arguments, messages that quote them), which is removed here.
 */
import {
  type Attributes,
  type Context,
  context,
  type Span,
  type SpanOptions,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { Environment } from '../settings/settings.ts';

/** The attributes that a driver may set: the template of a route, the name of a command. */
const ATTRIBUTES: ReadonlySet<string> = new Set([
  'http.route',
  'express.type',
  'db.system.name',
  'db.operation.name',
]);

/**
 * Allows Express to be instrumented when it is loaded, so it must run before the first import of serving code. The hook
 * runs in this thread, because a separate one would cost the memory of a second Node. ioredis needs no hook, because it
 * is loaded by `require` when a cache is opened.
 */
export async function hookImports(env: Environment): Promise<void> {
  if (!env['OTEL_EXPORTER_OTLP_ENDPOINT']) return;
  const { register } = await import('import-in-the-middle/register-hooks.mjs');
  register({ include: ['express'] });
}

export async function traceDrivers(provider: TracerProvider): Promise<void> {
  const [{ ExpressInstrumentation }, { IORedisInstrumentation }] = await Promise.all([
    import('@opentelemetry/instrumentation-express'),
    import('@opentelemetry/instrumentation-ioredis'),
  ]);
  const dbStatementSerializer = (command: string): string => command;
  const drivers = [
    new ExpressInstrumentation(),
    new IORedisInstrumentation({ dbStatementSerializer }),
  ];
  for (const driver of drivers) driver.setTracerProvider(reticent(provider));
}

/** A provider whose spans keep only the attributes listed above and, for an error, only the fact that there was one. */
export const reticent = (provider: TracerProvider): TracerProvider => ({
  getTracer: (...named) => reticentTracer(provider.getTracer(...named)),
});

function reticentTracer(tracer: Tracer): Tracer {
  const startSpan = (name: string, options: SpanOptions = {}, at = context.active()): Span =>
    silenced(tracer.startSpan(name, { ...options, attributes: allowed(options.attributes) }, at));
  const startActiveSpan = (name: string, ...given: readonly unknown[]): unknown => {
    const work = given.at(-1) as (span: Span) => unknown;
    const [options, at] = given.slice(0, -1) as [SpanOptions?, Context?];
    const span = startSpan(name, options, at);
    return context.with(trace.setSpan(at ?? context.active(), span), () => work(span));
  };
  return { startSpan, startActiveSpan: startActiveSpan as Tracer['startActiveSpan'] };
}

const allowed = (attributes: Attributes = {}): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => ATTRIBUTES.has(name)));

function silenced(span: Span): Span {
  const setStatus = span.setStatus.bind(span);
  return Object.assign(span, {
    setAttribute: () => span,
    setAttributes: () => span,
    addEvent: () => span,
    recordException: () => undefined,
    setStatus: ({ code }: Parameters<Span['setStatus']>[0]) => setStatus({ code }),
  });
}
