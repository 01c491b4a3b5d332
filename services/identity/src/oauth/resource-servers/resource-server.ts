/**
 * A resource server: an API of the tenant that accepts tokens of this authorization server. Its identifier is a URL,
 * which becomes the audience of those tokens.
 */
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';

export type ResourceScope = { readonly name: string; readonly description: string };

export type ResourceServerFacts = {
  readonly id: string;
  readonly identifier: string;
  readonly name: string;
  readonly scopes: readonly ResourceScope[];
  readonly token_ttl_seconds: number;
  readonly created_at: string;
};
export type ExistingResourceServer = ResourceServerFacts & {
  readonly status: 'active';
  /** The id of the reservation of its identifier. */
  readonly identifierHash: string;
  readonly requestHash: string | null;
};
export type ResourceServer =
  | { readonly status: 'none' }
  | { readonly status: 'deleted'; readonly identifierHash: string }
  | ExistingResourceServer;

export type ResourceServerEvent =
  | {
      readonly type: 'ResourceServerCreated';
      readonly data: ResourceServerFacts & {
        readonly identifier_hash: string;
        readonly request_hash: string | null;
      };
    }
  | {
      readonly type: 'ResourceServerDeleted';
      readonly data: {
        readonly id: string;
        readonly identifier: string;
        readonly deleted_at: string;
      };
    };

export const resourceServers: Stream<ResourceServer, ResourceServerEvent> = {
  noun: 'resourceserver',
  initial: { status: 'none' },
  evolve: (before, { type, data }) => {
    switch (type) {
      case 'ResourceServerCreated': {
        const { identifier_hash: identifierHash, request_hash: requestHash, ...facts } = data;
        return { status: 'active', ...facts, identifierHash, requestHash };
      }
      case 'ResourceServerDeleted':
        return before.status === 'active'
          ? { status: 'deleted', identifierHash: before.identifierHash }
          : before;
    }
  },
};

export const createResourceServer = (
  create: Extract<ResourceServerEvent, { type: 'ResourceServerCreated' }>['data'],
  server: ResourceServer,
): Decision<ResourceServerEvent, 'already_created'> =>
  server.status === 'none'
    ? accept({ type: 'ResourceServerCreated', data: create })
    : refuse('already_created');

export function deleteResourceServer(
  { id, now }: { readonly id: string; readonly now: Date },
  server: ResourceServer,
): Decision<ResourceServerEvent, 'not_found'> {
  if (server.status === 'none') return refuse('not_found');
  if (server.status === 'deleted') return accept();
  const data = { id, identifier: server.identifier, deleted_at: now.toISOString() };
  return accept({ type: 'ResourceServerDeleted', data });
}

const IDENTIFIER_CHARACTERS_MAX = 512;
const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];

/** Whether the text is an absolute URL that cannot be confused with an address of Cardea. */
export function isIdentifier(
  text: string,
  { issuer, isDevelopment }: { readonly issuer: string; readonly isDevelopment: boolean },
): boolean {
  if (text.length > IDENTIFIER_CHARACTERS_MAX || !/^[\x21-\x7e]+$/.test(text)) return false;
  const url = URL.parse(text);
  if (url === null || text.includes('#') || url.username !== '' || url.password !== '') {
    return false;
  }
  const isLocal = isDevelopment && LOOPBACK.includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) return false;
  if (url.href !== text && url.href !== `${text}/`) return false;
  return text !== issuer && !text.startsWith(`${issuer}/`) && url.href !== `${issuer}/`;
}
