import { type Span, SpanStatusCode, type Tracer, type TracerProvider } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { reticent } from './driver-spans.ts';

const KEY = 'canary-of-a-key';

/** A provider that keeps all spans that it receives. */
function eager() {
  const told: unknown[] = [];
  const keep = (...given: readonly unknown[]): unknown => told.push(given);
  const span = {
    setStatus: keep,
    setAttribute: keep,
    setAttributes: keep,
    addEvent: keep,
    recordException: keep,
    end: keep,
  } as unknown as Span;
  const startSpan: Tracer['startSpan'] = (name, options) => {
    keep(name, options?.attributes);
    return span;
  };
  const getTracer = (): Tracer => ({ startSpan, startActiveSpan: () => undefined as never });
  return { told, provider: { getTracer } satisfies TracerProvider };
}

describe('the span of a driver', () => {
  it('keeps back arguments, addresses and messages, and tells that something failed', () => {
    const { told, provider } = eager();
    const span = reticent(provider)
      .getTracer('a driver')
      .startSpan('get', {
        attributes: {
          'db.operation.name': 'get',
          'db.query.text': `get ${KEY}`,
          'server.address': KEY,
        },
      });
    span.setAttribute('key', KEY).setAttributes({ key: KEY }).addEvent(KEY);
    span.recordException(new Error(KEY));
    span.setStatus({ code: SpanStatusCode.ERROR, message: `WRONGTYPE ${KEY}` });
    expect(told).toEqual([
      ['get', { 'db.operation.name': 'get' }],
      [{ code: SpanStatusCode.ERROR }],
    ]);
  });

  it('is as reticent where the driver makes it the active one', () => {
    const { told, provider } = eager();
    const tracer = reticent(provider).getTracer('a driver');
    const answer = tracer.startActiveSpan('get', { attributes: { key: KEY } }, (span) => {
      span.recordException(new Error(KEY));
      return 7;
    });
    expect(answer).toBe(7);
    expect(told).toEqual([['get', {}]]);
  });
});
