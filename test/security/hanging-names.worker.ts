/**
 * Runs in a network namespace whose name server never answers for the names of receivers: starts the product there,
 * and prints how long sign-ins take before and while webhooks wait for such names.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const [main = '', folder = '', lookupSeconds = '0'] = process.argv.slice(2);
const PORT = 8080;
const BASE = `http://127.0.0.1:${PORT}`;
const DNS_PORT = 53;
/** As in the image. Node.js uses at most half of them for lookups, of which at most two of ours may hang. */
const THREADS = '8';
const NAMES = 10;
const SIGN_INS = 20;
const WAIT_MS = 100;
const START_MS_MAX = 120_000;
/** Shorter than a lookup hangs, so that lookups that hang at the beginning still hang at the end. */
const NOISY_MS_MAX = Number(lookupSeconds) * 1_000 - 5_000;
const OWNER = { email: 'owner@example.com', password: 'a long enough phrase' };

const HEADER_BYTES = 12;
const NO_SUCH_NAME = 3;
const hanging = new Set<string>();

/** The whole name of a question, and the offset of its end. */
function questionOf(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

const dns = createSocket('udp4');
dns.on('message', (query, { address, port }) => {
  const { name, end } = questionOf(query);
  // Names of the system's search list and such names are never answered.
  if (name.endsWith('.cluster.local') || name.startsWith('mute-')) {
    hanging.add(name);
    return;
  }
  const answer = Buffer.from(query.subarray(0, end));
  answer.writeUInt16BE(0x8180 | NO_SUCH_NAME, 2);
  answer.writeUInt16BE(0, 6);
  answer.writeUInt32BE(0, 8);
  dns.send(answer, port, address);
});
dns.bind(DNS_PORT, '127.0.0.1');
await once(dns, 'listening');

const product = spawn(process.execPath, [main, '--data', folder, '--port', String(PORT)], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    ...process.env,
    UV_THREADPOOL_SIZE: THREADS,
    HASH_CONCURRENCY: '2',
    WEBHOOK_ALLOWED_CIDRS: '10.20.0.0/16',
    RATE_LIMIT_FACTOR: '1000',
    LOG_LEVEL: 'error',
  },
});

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function untilTrue(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const startMs = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startMs > START_MS_MAX) throw new Error('waited for too long');
    await pause(WAIT_MS);
  }
}

async function post(path: string, body: object, bearer?: string, tenant?: string) {
  const answer = await fetch(`${BASE}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(tenant === undefined ? {} : { 'x-service-tenant': tenant }),
    },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as { readonly [name: string]: string };
}

/** Sends sign-ins one after another. Returns how long each took. */
async function signIns(tenant: string, untilMs: number): Promise<readonly number[]> {
  const times: number[] = [];
  while (times.length < SIGN_INS && performance.now() < untilMs) {
    const sentMs = performance.now();
    await post('/api/v1/auth/login', OWNER, undefined, tenant);
    times.push(performance.now() - sentMs);
  }
  return times;
}

try {
  await untilTrue(() =>
    fetch(`${BASE}/health`)
      .then(({ ok }) => ok)
      .catch(() => false),
  );
  const owner = await post('/api/v1/auth/signup', { ...OWNER, company_name: 'Company' });
  const { access_token: bearer, tenant_id: tenant = '' } = owner;
  await signIns(tenant, Number.POSITIVE_INFINITY);
  const calm = await signIns(tenant, Number.POSITIVE_INFINITY);
  const webhooks: string[] = [];
  for (const kind of ['slow', 'mute']) {
    for (let at = 0; at < NAMES; at++) {
      const url = `https://${kind}-${at}.example.com/hook`;
      const made = await post(
        '/api/v1/webhooks',
        { url, events: ['user.created'] },
        bearer,
        tenant,
      );
      webhooks.push(made['id'] ?? '');
    }
  }
  await Promise.all(webhooks.map((id) => post(`/api/v1/webhooks/${id}/test`, {}, bearer, tenant)));
  await untilTrue(() => [...hanging].some((name) => name.endsWith('.cluster.local')));
  const noisyMs = performance.now();
  // Continues even without an answer, because a request that waits for a thread waits until a lookup ends.
  const ended = Promise.race([
    signIns(tenant, noisyMs + NOISY_MS_MAX),
    pause(NOISY_MS_MAX).then(() => []),
  ]);
  const noisy = await ended;
  process.stdout.write(JSON.stringify({ calm, noisy, hanging: [...hanging] }));
} finally {
  product.kill('SIGKILL');
}
process.exit(0);
