/**
 * The keys that encrypt the cookie of the pages. All services of a deployment share them, because a browser
 * sends every cookie to each of them. They sign nothing, so a holder of these keys cannot create a token.
 */
import type { Derive, DerivedKeys } from '@cardea/crypto';
import type { Settings } from '@cardea/runtime';

const PURPOSE = 'pages/v1';

/** Derives the keys from the deployment's secrets. A service with its own secrets was given these keys. */
export function pageKeys(
  { PAGES_KEY }: Partial<Pick<Settings, 'PAGES_KEY'>>,
  derive: Derive,
): DerivedKeys {
  const [current, previous] = PAGES_KEY?.reveal().split(',') ?? [];
  if (current === undefined) return derive('JWT_SECRET', PURPOSE);
  const key = (hex: string) => Buffer.from(hex, 'hex');
  return { current: key(current), previous: previous === undefined ? previous : key(previous) };
}

/** The value that `cardea env derive` gives to each service, in the form of the setting. */
export function pageKeysSetting(derive: Derive): { readonly PAGES_KEY: string } {
  const { current, previous } = derive('JWT_SECRET', PURPOSE);
  const keys = previous === undefined ? [current] : [current, previous];
  return { PAGES_KEY: keys.map((key) => key.toString('hex')).join(',') };
}
