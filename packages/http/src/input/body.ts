/**
 * Reads a request's body late. Media type and announced length are checked in the headers first, so the server never
 * waits for a body that it would refuse.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { type Refusal, refusalOf } from '../refusals/refusal.ts';

export const BODY_MAX_BYTES = 256 * 1024;
/** The time limit from the start of reading to the last byte. */
export const BODY_WAIT_MS = 10_000;

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** The only parameter that matters to us. RFC 9110, 5.6.6, defines the syntax of parameters. */
const CHARSET = /;[ \t]*charset="?([^";]*)"?/gi;
const UTF8 = /^[ \t]*utf-?8[ \t]*$/i;
const LENGTH = /^[0-9]{1,15}$/;
const EMPTY = Buffer.alloc(0);

export type BodyRule = {
  readonly limitBytes: number;
  /** The most members of all objects of the body. */
  readonly keysMax: number;
  readonly typeOptional: boolean;
  readonly takesForm: boolean;
};

/** Unknown parameters are ignored. A charset other than UTF-8 counts as another media type. */
function isOfType(header: string, type: string): boolean {
  if (header === type) return true;
  const [essence = ''] = header.split(';', 1);
  if (essence.trim().toLowerCase() !== type) return false;
  return [...header.matchAll(CHARSET)].every(([, charset = '']) => UTF8.test(charset));
}

/** Whether the body is a form, according to the headers. */
export const isForm = (headers: { readonly 'content-type'?: string | undefined }): boolean =>
  isOfType(headers['content-type'] ?? '', FORM_TYPE);

/** Whether the headers announce a body, even an empty one. */
const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined ||
  (headers['content-length'] !== undefined && headers['content-length'] !== '0');

/** Returns 415 or 413 if the headers show the fault. */
export function refusedByHeaders(request: IncomingMessage, rule: BodyRule): Refusal | undefined {
  const { headers } = request;
  const encoding = headers['content-encoding'];
  const type = headers['content-type'];
  const announced = announcesBody(request);
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return refusalOf('unsupported_media_type', { headers: NOT_ENCODED });
  }
  const isTaken =
    type === undefined
      ? rule.typeOptional
      : isOfType(type, JSON_TYPE) || (rule.takesForm && isOfType(type, FORM_TYPE));
  if (announced && !isTaken) return refusalOf('unsupported_media_type');
  const length = headers['content-length'];
  return length !== undefined && LENGTH.test(length) && Number(length) > rule.limitBytes
    ? refusalOf('body_too_large')
    : undefined;
}

/** Names the accepted encodings (RFC 9110, 12.5.3). */
const NOT_ENCODED = { 'Accept-Encoding': 'identity' };

/** The body in the parts in which it arrived. */
export type BodyReading =
  | { readonly parts: readonly Buffer[] }
  | { readonly refusal: Refusal }
  | 'gone';

/** Looks at a part of a body while the rest is still arriving. A refusal ends the reading. */
export type PartCheck = (part: Buffer) => Refusal | undefined;

/** Requests that sent `Expect: 100-continue` and wait for the interim response. */
export const AWAITS_CONTINUE: unique symbol = Symbol('awaits 100-continue');

/** Returns a promise only if announced bytes have not arrived yet. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limitBytes: number,
  check?: PartCheck,
): BodyReading | Promise<BodyReading> {
  if (!announcesBody(request)) return { parts: [] };
  if (AWAITS_CONTINUE in request) {
    delete (request as { [AWAITS_CONTINUE]?: true })[AWAITS_CONTINUE];
    response.writeContinue();
  }
  return isWhole(request)
    ? wholeBody(request, limitBytes)
    : announcedBody(request, limitBytes, check);
}

async function announcedBody(
  request: IncomingMessage,
  limitBytes: number,
  check?: PartCheck,
): Promise<BodyReading> {
  // A body that came in one packet with its headers has arrived after the parser's turn, and needs neither a timer nor
  // listeners.
  await null;
  return isWhole(request)
    ? wholeBody(request, limitBytes)
    : arrivingBody(request, limitBytes, check);
}

function wholeBody(request: IncomingMessage, limitBytes: number): BodyReading {
  if (request.destroyed) return 'gone';
  const bytes: Buffer = request.read() ?? EMPTY;
  return bytes.length > limitBytes ? { refusal: refusalOf('body_too_large') } : { parts: [bytes] };
}

/** The parser reports that a message is complete only after it has passed on the body. */
const isWhole = (request: IncomingMessage): boolean =>
  request.complete || request.readableLength === Number(request.headers['content-length']);

function arrivingBody(
  request: IncomingMessage,
  limitBytes: number,
  check?: PartCheck,
): Promise<BodyReading> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const mayPause = unhurried(request);
    let length = 0;
    const timer = setTimeout(() => done({ refusal: refusalOf('request_timeout') }), BODY_WAIT_MS);
    const onData = (part: Buffer) => {
      length += part.length;
      const refusal = length > limitBytes ? refusalOf('body_too_large') : check?.(part);
      if (refusal !== undefined) return done({ refusal });
      parts.push(part);
      mayPause(part);
    };
    const onEnd = () => done({ parts });
    const onGone = () => done('gone');
    function done(reading: BodyReading): void {
      clearTimeout(timer);
      request.off('data', onData);
      request.off('end', onEnd);
      request.off('error', onGone);
      request.off('close', onGone);
      // An aborted request emits one more error, which needs a listener.
      if (reading === 'gone') request.on('error', () => {});
      resolve(reading);
    }
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('error', onGone);
    request.on('close', onGone);
  });
}

/**
 * What is read of a body without a pause, so that long bodies leave time for other requests (`docs/design/bounds.md`,
 * C1). Unhindered, a turn of the event loop reads up to 2 MiB of each connection, and all requests wait for it.
 */
const READ_BYTES = 64 * 1024;
/**
 * A body that nobody wants pauses for longer, and less often: its client gets the answer when all of it has been sent.
 */
const UNWANTED = { bytes: 256 * 1024, pauseMs: 1 } as const;

/**
 * Call the result with each part of a body. After enough bytes, the next part comes in a later turn of the event loop.
 */
export function unhurried(body: Readable): (part: Buffer) => void {
  return pausing(body, READ_BYTES, () => setImmediate(() => body.resume()));
}

/** Discards what is left of a body. `took` is called with the length of each part. */
export function discard(body: Readable, took: (bytes: number) => void): void {
  const resumeLater = () => setTimeout(() => body.resume(), UNWANTED.pauseMs);
  const pause = pausing(body, UNWANTED.bytes, resumeLater);
  body.on('data', (part: Buffer) => {
    took(part.length);
    pause(part);
  });
  body.resume();
}

function pausing(body: Readable, bytes: number, resumeLater: () => void): (part: Buffer) => void {
  let read = 0;
  return (part) => {
    read += part.length;
    if (read < bytes) return;
    read = 0;
    body.pause();
    resumeLater();
  };
}
