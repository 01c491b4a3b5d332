/** Issues opaque keys. */
import { instantOf } from '@cardea/contracts';
import {
  type IssuedKey,
  issueKey,
  type KeyEnvironment,
  parseKey,
  printKey,
  sha256,
} from '@cardea/crypto';
import type { Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import type { Workspaces } from '../workspaces/workspaces.module.ts';

type Dependencies = Pick<ServiceDependencies, 'random'> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

type AnyRequest = Request<unknown, unknown, unknown>;

/**
 * Generates the id and the secret of a key. A repeatable request always derives the same id, so a repeat finds the key
 * that the first request created. The secret is always random.
 */
export function drawKey(
  { random }: Pick<Dependencies, 'random'>,
  request: AnyRequest,
  of: { readonly kind: 'svc' | 'agk'; readonly environment: KeyEnvironment },
): IssuedKey {
  if (request.idempotency === undefined) return issueKey(of.kind, of.environment, random);
  const idBytes = Buffer.concat([
    sha256(`key id 1 ${request.commandId}`),
    sha256(`key id 2 ${request.commandId}`),
  ]);
  let draws = 0;
  const bytes = (length: number): Buffer => {
    draws += 1;
    return draws === 1 ? idBytes.subarray(0, length) : random.bytes(length);
  };
  return issueKey(of.kind, of.environment, { bytes });
}

/** Generates a new secret for a key that keeps its id. */
export function drawSecret(
  { random }: Pick<Dependencies, 'random'>,
  of: {
    readonly kind: 'svc' | 'agk';
    readonly environment: KeyEnvironment;
    readonly id: string;
  },
): { readonly text: string; readonly hash: string } {
  const drawn = issueKey(of.kind, of.environment, random);
  const parsed = parseKey(drawn.text);
  if (parsed === undefined || parsed.kind !== of.kind) throw new Error('a drawn key is none');
  return { text: printKey({ ...parsed, id: of.id }), hash: drawn.secretHash };
}

/** Returns `live` if the tenant is in production. */
export async function environmentOf(
  needs: Pick<Dependencies, 'workspaces'>,
  tenantId: string,
): Promise<KeyEnvironment> {
  const tenant = await needs.workspaces.tenant(tenantId);
  return tenant?.environment === 'production' ? 'live' : 'test';
}

/** Returns undefined if the text is not a time, or a time in the past. */
export function futureMoment(text: string, now: Date): string | undefined {
  const moment = instantOf(text);
  return moment === null || moment <= now ? undefined : moment.toISOString();
}
