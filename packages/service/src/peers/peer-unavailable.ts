import { Outage } from '@cardea/runtime';

/** Another service did not respond. Answered with 503 and Retry-After. */
export class PeerUnavailable extends Outage {
  override readonly name: string = 'PeerUnavailable';
}

/** The response of another service violates its contract. It is treated like a missing response. */
export class UnexpectedAnswer extends PeerUnavailable {
  override readonly name = 'UnexpectedAnswer';
}
