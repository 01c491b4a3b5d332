/**
 * A service on a busy machine may refuse a request for a moment, by 503 with `Retry-After`. That request is not lost,
 * because its client is told to send it again. A request that the gateway could not deliver is lost.
 */
import type { RestAnswer } from '@cardea/testing';

const REPEATS_MAX = 3;

/** Sends the request again as often as the responses ask for it. Calls `repeated` each time. */
export async function repeatWhenBusy(
  send: () => Promise<RestAnswer>,
  repeated: () => void = () => undefined,
): Promise<RestAnswer> {
  for (let repeats = 0; ; repeats += 1) {
    const answer = await send();
    const { status, headers } = answer;
    const isOfGateway = headers.get('x-served-by') === 'gateway';
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    if (status !== 503 || isOfGateway || !(seconds >= 0) || repeats === REPEATS_MAX) return answer;
    repeated();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}
