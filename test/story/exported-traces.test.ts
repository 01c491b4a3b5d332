/**
 * Tests the spans that a collector receives from real processes: the drivers' spans below the request's, and no
 * unwanted attribute.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  freePorts,
  needRedis,
  processFixture,
  type RedisServer,
  startRedis,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

type Attribute = { readonly key: string; readonly value: object };
type Exported = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly Attribute[];
};
type Batch = {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Exported[] }[];
  }[];
};

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const PASSWORD = 'canary-password-of-traces';
const EMAIL = 'tracer@example.com';
const ROUTE = '/api/v1/auth/signup';
const ATTRIBUTES = [
  'command log projection topic consumer outcome events attempt service route method status',
  'http.route express.type db.system.name db.operation.name',
].flatMap((line) => line.split(' '));
const SECRETS = {
  JWT_SECRET: randomBytes(32).toString('hex'),
  ENCRYPTION_KEY: randomBytes(32).toString('hex'),
};
/** Prints each file of tracing that is loaded. */
const TELL_LOADS = `data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from 'node:module';
   registerHooks({ load: (url, context, next) => {
     if (/opentelemetry|in-the-middle/.test(url)) process.stderr.write('loaded ' + url + '\\n');
     return next(url, context);
   } });`,
)}`;

const fixture = processFixture();
/** The folder into which mails are written. */
const folder = mkdtempSync(join(tmpdir(), 'cardea-traces-'));
const database = testDatabase();
needRedis();
let redis: RedisServer | undefined;
let collector: Server;
const batches: string[] = [];

beforeAll(async () => {
  redis = await startRedis().catch(() => undefined);
  collector = createServer(async (request, response) => {
    batches.push(await text(request));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  collector?.close();
  await redis?.kill();
  rmSync(folder, { recursive: true, force: true });
});

const spans = (): readonly Exported[] =>
  batches
    .map((batch) => JSON.parse(batch) as Batch)
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap((scope) => scope.spans);

const keysOf = ({ attributes }: Exported): readonly string[] => attributes.map(({ key }) => key);

const tracing = (): { [name: string]: string } => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_TRACES_SAMPLER_ARG: '1',
  OTEL_BSP_SCHEDULE_DELAY: '100',
});

async function start(service: string, env: { [name: string]: string }) {
  const [api, management, internal] = await freePorts(3);
  const running = await fixture.start({
    name: service,
    script: 'src/main.ts',
    cwd: fileURLToPath(new URL(`../../services/${service}/`, import.meta.url)),
    args: service === 'standalone' ? ['--temp'] : [],
    env: {
      ENV: 'development',
      HOST: '127.0.0.1',
      ...SECRETS,
      CARDEA_DATA: folder,
      DATABASE_URL: database.url,
      REDIS_URL: redis?.url ?? '',
      PORT: String(api),
      MANAGEMENT_PORT: String(management),
      INTERNAL_PORT: String(internal),
      SHUTDOWN_DELAY: '0s',
      ...env,
    },
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${management}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await untilTrue(isReady, { deadlineMs: 60_000, what: `${service} is ready` });
  return { running, url: `http://127.0.0.1:${api}` };
}

/** The names of its ancestors, from the nearest on, without the caller's own span. */
function above(span: Exported): readonly string[] {
  const parent = spans().find(({ spanId }) => spanId === span.parentSpanId);
  return parent === undefined ? [] : [parent.name, ...above(parent)];
}

describe('the spans that a collector gets', () => {
  it.each(['identity', 'standalone'])(
    'of %s lead from a request over its route to the commands of Redis, and hold nothing of anybody',
    async (service) => {
      batches.length = 0;
      const { running, url } = await start(service, tracing());
      const signedUp = await fetch(url + ROUTE, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', traceparent: `00-${TRACE}-${CALLER}-01` },
        body: JSON.stringify({
          email: `${service}-${EMAIL}`,
          password: PASSWORD,
          company_name: 'Traced Ltd',
        }),
      });
      expect(signedUp.status).toBe(201);
      const told = (await signedUp.json()) as { [field: string]: unknown };
      // Stopping exports what has not been exported.
      expect(await running.end('SIGTERM'), running.output()).toBe(0);

      const ours = spans().filter(({ traceId }) => traceId === TRACE);
      const request = ours.find(({ name }) => name === `request POST ${ROUTE}`);
      expect(request?.parentSpanId).toBe(CALLER);
      const redisSpans = ours.filter((span) => keysOf(span).includes('db.operation.name'));
      expect(redisSpans).not.toEqual([]);
      for (const span of redisSpans) expect(above(span)).toContain(request?.name);
      const commands = ours.filter(({ name }) => name.startsWith('command '));
      expect(commands.map((span) => above(span).includes(String(request?.name)))).toContain(true);

      const keys = new Set(spans().flatMap(keysOf));
      expect([...keys].filter((key) => !ATTRIBUTES.includes(key))).toEqual([]);
      const all = batches.join('\n');
      const ids = Object.values(told).filter((value) => typeof value === 'string');
      expect(ids.length).toBeGreaterThan(2);
      for (const word of [PASSWORD, EMAIL, '@example', 'Traced Ltd', ...ids, redis?.url ?? '']) {
        expect(all).not.toContain(word);
      }
    },
  );

  it('are not even loaded where no collector is named', async () => {
    const env = { NODE_OPTIONS: `--import=${TELL_LOADS}` };
    const { running } = await start('identity', env);
    await running.end('SIGTERM');
    const loaded = running.output().match(/^loaded .*$/gm) ?? [];
    expect(loaded).not.toEqual([]);
    expect(loaded.filter((file) => !file.includes('/@opentelemetry/api/'))).toEqual([]);
  });
});
