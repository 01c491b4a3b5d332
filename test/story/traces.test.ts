import { services } from '@cardea/standalone';
import {
  type ServiceFixture,
  serviceFixture,
  testDatabase,
  untilTrue,
  webhookSink,
} from '@cardea/testing';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { player } from '../../scripts/tour/player.ts';
import { playStory } from '../../scripts/tour/story.ts';

const quiet = (): void => undefined;
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const PASSWORD = 'canary-password-of-traces';
const CHEAP = { ARGON2_MEMORY: '64', ARGON2_TIME: '1' };
const NAMES = ['append', 'command ', 'consume', 'deliver', 'project', 'relay', 'request ', 'vend'];
const ATTRIBUTES = [
  'command log projection topic consumer outcome events attempt service route method status',
].flatMap((line) => line.split(' '));

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const database = testDatabase();
let fixture: ServiceFixture;

beforeAll(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: services, env: CHEAP });
});
afterAll(async () => {
  await fixture?.stop();
  trace.disable();
  context.disable();
});

const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
const inTrace = (name: string): readonly ReadableSpan[] =>
  spans().filter((span) => span.name === name && span.spanContext().traceId === TRACE);
const linkedToTrace = (name: string): readonly ReadableSpan[] =>
  spans().filter(
    (span) => span.name === name && span.links.some(({ context: at }) => at.traceId === TRACE),
  );

describe('the spans of a call', () => {
  it('lead from the caller over the log and the topics to the receiver of a webhook', async () => {
    const sink = await webhookSink();
    const signedUp = await fixture.rest.post('/api/v1/auth/signup', {
      email: 'tracer@example.com',
      password: PASSWORD,
      company_name: 'Traced',
    });
    const { access_token: bearer, tenant_id: tenant } = signedUp.body;
    const admin = fixture.rest.as({ bearer, tenant });
    await admin.post('/api/v1/webhooks', { url: `${sink.url}/hook`, events: ['user.created'] });
    const traceparent = `00-${TRACE}-${CALLER}-01`;
    const made = await admin.post(
      '/api/v1/admin/users',
      { email: 'traced@example.com', password: PASSWORD },
      { headers: { traceparent } },
    );
    expect(made.status).toBe(201);

    // The founder of the tenant may be published too, because that event is hardly older than the webhook.
    const received = await sink.waitFor(({ body }) => body.includes(made.body.id));
    await sink.close();
    const [, traceId, spanId] = String(received.headers['traceparent']).split('-');
    expect(traceId).toBe(TRACE);
    // A span ends after its work, so others may use the result or get the answer before.
    for (const name of ['request POST /api/v1/admin/users', 'command user', 'append', 'deliver']) {
      await untilTrue(() => inTrace(name).length > 0, { what: `a span ${name}` });
    }
    for (const name of ['project', 'relay', 'consume']) {
      await untilTrue(() => linkedToTrace(name).length > 0, { what: `a span ${name}` });
    }
    const [request] = inTrace('request POST /api/v1/admin/users');
    expect(request?.parentSpanContext?.spanId).toBe(CALLER);
    const [command] = inTrace('command user');
    expect(command?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
    const appends = inTrace('append').map((span) => span.parentSpanContext?.spanId);
    expect(appends).toContain(command?.spanContext().spanId);
    const [delivery] = inTrace('deliver');
    expect(delivery?.spanContext().spanId).toBe(spanId);
  });

  it('cover what the story does, and say nothing but what their list allows', async () => {
    await playStory(player(fixture.baseUrl, quiet), fixture.baseUrl);
    const names = () => new Set(spans().map(({ name }) => name.replace(/ .*/, ' ')));
    await untilTrue(() => names().size >= NAMES.length, { what: 'spans of each name' });
    expect([...names()].toSorted()).toEqual(NAMES.toSorted());
    const keys = new Set(spans().flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...keys].filter((key) => !ATTRIBUTES.includes(key))).toEqual([]);
    const [vend] = spans().filter(({ name }) => name === 'vend');
    const below = spans().filter(
      (span) => span.parentSpanContext?.spanId === vend?.spanContext().spanId,
    );
    expect(below.map(({ name }) => name)).toContainEqual(expect.stringMatching(/^command /));
    const text = JSON.stringify(
      spans().map(({ attributes, name, status }) => [name, attributes, status]),
    );
    expect(text).not.toContain(PASSWORD);
    expect(text).not.toContain('@');
  });
});
