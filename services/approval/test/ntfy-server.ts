/**
 * An ntfy server according to its documentation (https://docs.ntfy.sh/publish/#publish-as-json and
 * https://docs.ntfy.sh/subscribe/api/, read 2026-11-27), and a subscriber that is independent of the publisher.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

export type NtfyMessage = {
  readonly id: string;
  readonly time: number;
  readonly event: 'open' | 'keepalive' | 'message' | 'poll_request';
  readonly topic: string;
  readonly message?: string;
  readonly title?: string;
  readonly priority?: number;
  readonly click?: string;
};

export type NtfyServer = {
  readonly url: string;
  /** Requires this token for publishing to and reading from the topic. */
  protect(topic: string, token: string): void;
  close(): Promise<void>;
};

const KNOWN = ['topic', 'message', 'title', 'tags', 'priority', 'actions', 'click', 'attach'];

export async function ntfyServer(): Promise<NtfyServer> {
  const subscribers = new Map<string, Set<ServerResponse>>();
  const tokens = new Map<string, string>();
  let count = 0;
  const server = createServer(async (request, response) => {
    const refuse = (status: number, code: number, error: string) =>
      response.writeHead(status).end(JSON.stringify({ code, http: status, error }));
    const mayUse = (topic: string) =>
      !tokens.has(topic) || request.headers.authorization === `Bearer ${tokens.get(topic)}`;
    const event = (of: Omit<NtfyMessage, 'id' | 'time'>): NtfyMessage => {
      count += 1;
      return { id: `m${count}`, time: Math.floor(Date.now() / 1_000), ...of };
    };
    const [, topic = ''] = /^\/([\w-]{1,64})\/json$/.exec(request.url ?? '') ?? [];
    if (request.method === 'GET' && topic !== '') {
      if (!mayUse(topic)) return refuse(403, 40301, 'forbidden');
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson; charset=utf-8' });
      response.write(`${JSON.stringify(event({ event: 'open', topic }))}\n`);
      const all = subscribers.get(topic) ?? new Set();
      subscribers.set(topic, all.add(response));
      return undefined;
    }
    if (request.url !== '/') return refuse(404, 40401, 'page not found');
    const body = JSON.parse(await text(request)) as NtfyMessage;
    const isKnown = Object.keys(body).every((name) => KNOWN.includes(name));
    if (!isKnown || !/^[\w-]{1,64}$/.test(body.topic)) return refuse(400, 40024, 'invalid message');
    if (!mayUse(body.topic)) return refuse(403, 40301, 'forbidden');
    const message = event({ ...body, event: 'message', message: body.message ?? 'triggered' });
    for (const each of subscribers.get(body.topic) ?? [])
      each.write(`${JSON.stringify(message)}\n`);
    return response.writeHead(200).end(JSON.stringify(message));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    protect: (topic, token) => void tokens.set(topic, token),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Subscribes to a topic's JSON stream. Resolves when the server has confirmed the subscription. */
export async function subscribe(
  url: string,
  token?: string,
): Promise<{ readonly messages: readonly NtfyMessage[]; close(): void }> {
  const leaving = new AbortController();
  const answer = await fetch(`${url}/json`, {
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    signal: leaving.signal,
  });
  if (answer.status !== 200 || answer.body === null) throw new Error(`ntfy: ${answer.status}`);
  const messages: NtfyMessage[] = [];
  const opened = new Promise<void>((resolve) => {
    const lines = createInterface({ input: Readable.fromWeb(answer.body as never) });
    lines.on('error', () => {});
    lines.on('line', (line) => {
      const message = JSON.parse(line) as NtfyMessage;
      if (message.event === 'open') resolve();
      if (message.event === 'message') messages.push(message);
    });
  });
  await opened;
  return { messages, close: () => leaving.abort() };
}
