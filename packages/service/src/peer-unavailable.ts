/** Another service did not answer, or not as agreed. Answered 503 with Retry-After. */
export class PeerUnavailable extends Error {
  override readonly name = 'PeerUnavailable';
}
