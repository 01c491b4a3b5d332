/** A receiver on loopback that records every request and answers what the test sets. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { untilTrue } from '../until-true.ts';

export type Received = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body exactly as it was received, to verify signatures. */
  readonly body: string;
  readonly at: Date;
};
export type SinkAnswer = {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
};
export type WebhookSink = {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the response from now on; 200 by default. A promise that never resolves leaves the sender waiting. */
  answerWith(answer: (request: Received) => SinkAnswer | Promise<SinkAnswer>): void;
  /** Waits for the first request, received before or later, that fits. */
  waitFor(fits: (request: Received) => boolean, deadlineMs?: number): Promise<Received>;
  close(): Promise<void>;
};

export async function webhookSink(): Promise<WebhookSink> {
  const received: Received[] = [];
  let answer: (request: Received) => SinkAnswer | Promise<SinkAnswer> = () => ({ status: 200 });
  const server = createServer(async (request, response) => {
    // A sender that is stopped breaks off in the middle, which counts as no request.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const got: Received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
      at: new Date(),
    };
    received.push(got);
    const { status, headers = {}, body: said = '' } = await answer(got);
    response.writeHead(status, { ...headers }).end(said);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answerWith: (next) => {
      answer = next;
    },
    waitFor: (fits, deadlineMs) =>
      untilTrue(() => received.find(fits), {
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
        what: `a request that fits ${fits} (${received.length} came)`,
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
