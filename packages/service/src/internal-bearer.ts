/**
 * The bearer with which services authenticate at each other's internal listeners: only holders of the
 * deployment's secret can derive it. While the secret is rotated, the previous one is accepted too.
 */
import { type DerivedKeys, sameBytes } from '@cardea/crypto';
import type { ServiceDependencies } from './service.ts';

const INFO = 'internal/v1';

export type InternalBearers = {
  /** The bearers to send, the current one first. */
  readonly own: readonly string[];
  /** Whether an `Authorization` header has a valid bearer; in constant time. */
  readonly accepts: (header: string | undefined) => boolean;
};

export function internalBearers(derive: ServiceDependencies['derive']): InternalBearers {
  const { current, previous }: DerivedKeys = derive('JWT_SECRET', INFO);
  const own = (previous === undefined ? [current] : [current, previous]).map((key) =>
    key.toString('base64url'),
  );
  return {
    own,
    accepts: (header = '') => {
      // All are compared, even after a match, so that the time reveals nothing.
      const fits = own.map((bearer) => sameBytes(header, `Bearer ${bearer}`));
      return fits.includes(true);
    },
  };
}
