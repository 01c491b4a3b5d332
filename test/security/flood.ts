/** A request that clients of a noisy tenant send again and again, and what they may be answered. */

/** Replaced by a number of its own in the body of each request. */
export const NUMBER = '{number}';

export type Flood = {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With its query. */
  readonly path: string;
  readonly body?: string;
  /** Sent without a credential. */
  readonly isAnonymous?: true;
};

/** What the process of such clients is given. */
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

/** Answers that no noisy client may get: what is refused is refused with the time to wait. */
export function wrongOf(
  { status, hasRetryAfter, text }: Answer,
  refused: number | undefined,
): string | undefined {
  const isToldToWait = (status === 429 || status === 503) && hasRetryAfter;
  const isExpected = status < 300 || status === refused || isToldToWait;
  return isExpected ? undefined : `${status} ${text.slice(0, 200)}`;
}
