/**
 * What services show each other at their internal listeners: a bearer that only the holders of the
 * deployment's secret can derive. While the secret is rotated the previous one is believed too.
 */
import { type DerivedKeys, sameBytes } from '@cardea/crypto';
import type { ServiceDependencies } from './service.ts';

const INFO = 'internal/v1';

export type InternalBearers = {
  /** What to show, the better one first. */
  readonly own: readonly string[];
  /** Whether an `Authorization` header holds one of ours; in constant time. */
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
      // Each is compared, whichever fits: the time tells nothing.
      const fits = own.map((bearer) => sameBytes(header, `Bearer ${bearer}`));
      return fits.includes(true);
    },
  };
}
