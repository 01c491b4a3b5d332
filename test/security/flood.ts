/** A request that clients of a noisy tenant send repeatedly, and the responses that they may get. */

/** Replaced by a different number in the body of each request. */
export const NUMBER = '{number}';

export type Flood = {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** The path with its query. */
  readonly path: string;
  readonly body?: string;
  /** Sent without a credential. */
  readonly isAnonymous?: true;
};

/** The work of the process with such clients. */
export type FloodWork = Omit<Flood, 'path'> & {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly clients: number;
  readonly refused: number | undefined;
  /** The pause after a refusal. */
  readonly pauseMs: number;
  readonly firstNumber: number;
};

export type CrowdReport = { readonly answers: number; readonly wrong: readonly string[] };

type Answer = { readonly status: number; readonly hasRetryAfter: boolean; readonly text: string };

/** Responses that no noisy client may get. A refusal has to say how long to wait. */
export function wrongOf(
  { status, hasRetryAfter, text }: Answer,
  refused: number | undefined,
): string | undefined {
  const isToldToWait = (status === 429 || status === 503) && hasRetryAfter;
  const isExpected = status < 300 || status === refused || isToldToWait;
  return isExpected ? undefined : `${status} ${text.slice(0, 200)}`;
}
