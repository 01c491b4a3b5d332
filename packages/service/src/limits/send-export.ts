/** Answers exports, which are files that are sent while they are read, within the limits of `export-limit.ts`. */
import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Request } from '@cardea/http';
import type { ServiceDependencies } from '../service.ts';
import { EXPORT_MS_MAX, type ExportLimit } from './export-limit.ts';

const RETRY_AFTER_SECONDS = 10;
/** The first line and two pages. */
const PARTS_AT_ONCE = 3;
const BUSY = {
  refused: 'rate_limited',
  message: 'Two exports of this tenant are running already.',
  headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
} as const;

type Send = (response: ServerResponse) => Promise<void>;

/** Refuses with `rate_limited` if the tenant has no free export. Otherwise sends what `prepare` returns. */
export async function answerExport(
  slots: ExportLimit,
  tenantId: string,
  prepare: () => Promise<Send>,
): Promise<typeof BUSY | { readonly raw: Send }> {
  const release = await slots.take(tenantId);
  if (release === undefined) return BUSY;
  try {
    const send = await prepare();
    return { raw: (response) => send(response).finally(release) };
  } catch (error) {
    await release();
    throw error;
  }
}

/** A response that takes too long is disconnected, so that no client mistakes a partial file for a whole one. */
export async function sendExport(
  { clock, log }: Pick<ServiceDependencies, 'clock' | 'log'>,
  response: ServerResponse,
  of: {
    /** The memory of a page may be used again when the next one is requested. */
    readonly text: AsyncIterable<string | Buffer>;
    /** `signal` aborts when the client of the request has disconnected. */
    readonly request: Pick<Request<unknown, unknown, unknown>, 'signal' | 'nextPart'>;
    /** Logged if the export was interrupted. */
    readonly brokenOff: { readonly fields: object; readonly message: string };
  },
): Promise<void> {
  const late = new AbortController();
  const cancel = clock.after(EXPORT_MS_MAX, () => late.abort());
  const signal = AbortSignal.any([of.request.signal, late.signal]);
  const ended = finished(response, { signal });
  ended.catch(() => {}); // The error is thrown below.
  try {
    for await (const page of inTurns(of.text, of.request)) {
      await Promise.race([written(response, page), ended]);
    }
    response.end();
    await ended;
  } catch (error) {
    if (!late.signal.aborted) throw error;
    response.destroy();
    log.warn(of.brokenOff.fields, of.brokenOff.message);
  } finally {
    cancel();
  }
}

/** Resolves when the page is no longer in the memory of this process. */
const written = (response: ServerResponse, page: string | Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    response.write(page, (error) => (error ? reject(error) : resolve()));
  });

/** Each page is made in a turn of its tenant, as a request of its own would be. A small export is one part. */
async function* inTurns(
  pages: AsyncIterable<string | Buffer>,
  { nextPart }: Pick<Request<unknown, unknown, unknown>, 'nextPart'>,
): AsyncGenerator<string | Buffer, void> {
  let parts = 0;
  for await (const page of pages) {
    yield page;
    parts += 1;
    if (parts >= PARTS_AT_ONCE) await nextPart();
  }
}
