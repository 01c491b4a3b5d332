/**
 * Stores a person whom a provider has sent back, until the page at which they began continues the sign-in. That works
 * once.
 */
import { sha256 } from '@cardea/crypto';
import type { Cache, Random } from '@cardea/runtime';
import type { Basis } from '../../streams/basis.ts';
import type { SocialProvider } from '../../workspaces/workspaces.module.ts';

const HANDOVER_MS = 60_000;
const CODE_BYTES = 32;

export type HandedOver = {
  readonly tenantId: string;
  readonly userId: string;
  readonly basis: Basis;
  readonly provider: SocialProvider;
};

export type SocialHandover = {
  readonly put: (person: HandedOver) => Promise<string>;
  readonly take: (code: string, tenantId: string) => Promise<HandedOver | undefined>;
};

export function socialHandover({
  cache,
  random,
}: {
  readonly cache: Pick<Cache, 'set' | 'take'>;
  readonly random: Random;
}): SocialHandover {
  const keyOf = (code: string) => `social-person:${sha256(code).toString('base64url')}`;
  return {
    put: async (person) => {
      const code = random.bytes(CODE_BYTES).toString('base64url');
      await cache.set(keyOf(code), JSON.stringify(person), HANDOVER_MS);
      return code;
    },
    take: async (code, tenantId) => {
      const text = await cache.take(keyOf(code));
      const person: HandedOver | undefined = text === undefined ? undefined : JSON.parse(text);
      return person?.tenantId === tenantId ? person : undefined;
    },
  };
}
