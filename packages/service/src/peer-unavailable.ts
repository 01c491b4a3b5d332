import { Outage } from '@cardea/runtime';

/** Another service did not answer. Answered 503 with Retry-After. */
export class PeerUnavailable extends Outage {
  override readonly name: string = 'PeerUnavailable';
}

/** Another service answered what its contract does not allow: as if it had not answered. */
export class UnexpectedAnswer extends PeerUnavailable {
  override readonly name = 'UnexpectedAnswer';
}
