/**
 * A receiver of webhooks and of logout notices on loopback, which stores the received requests and checks signatures as
 * a customer would.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const ARRIVAL_MS_MAX = 90_000;
const LOOK_AGAIN_MS = 25;
const LOGOUT_PATH = '/logout';

export type Arrived = {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tour checks what it reads, field by field.
  readonly data: any;
  readonly raw: Buffer;
  readonly signature: string;
};

export type Receiver = {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** Waits for the first delivery that fits. */
  wait(fits: (arrived: Arrived) => boolean): Promise<Arrived | undefined>;
  /** The URL to which logout notices of applications are sent (Back-Channel Logout 1.0). */
  readonly logoutUrl: string;
  /** Waits for the first logout token that fits. */
  waitForLogout(fits: (token: string) => boolean): Promise<string | undefined>;
  close(): Promise<void>;
};

export async function receiver(): Promise<Receiver> {
  const arrived: Arrived[] = [];
  const logoutTokens: string[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    if (request.url === LOGOUT_PATH) {
      const form = new URLSearchParams(raw.toString('utf8'));
      logoutTokens.push(form.get('logout_token') ?? '');
      response.writeHead(204).end();
      return;
    }
    const { event, data } = JSON.parse(raw.toString('utf8')) as { event: string; data: unknown };
    arrived.push({ event, data, raw, signature: String(request.headers['x-service-signature']) });
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => {
    // A sender that is stopped breaks off, and a body that is not an event is ignored.
    take(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/hook`,
    arrived,
    wait: (fits) => firstThat(arrived, fits),
    logoutUrl: `${origin}${LOGOUT_PATH}`,
    waitForLogout: (fits) => firstThat(logoutTokens, fits),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function firstThat<One>(
  all: readonly One[],
  fits: (one: One) => boolean,
): Promise<One | undefined> {
  const deadline = Date.now() + ARRIVAL_MS_MAX;
  while (Date.now() < deadline) {
    const found = all.find(fits);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return undefined;
}

/** `X-Service-Signature` is HMAC-SHA256 of the raw body, keyed with the secret string (`docs/contract.md` 6.1). */
export function isSigned({ raw, signature }: Arrived, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
