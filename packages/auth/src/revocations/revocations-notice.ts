/** The messages about revocations that processes exchange on one channel. */
import { isTimed, type RevocationKind } from '../principal.ts';

/** Present while the list in the cache is complete. A cache that came back empty does not have it. */
export const GENERATION = 'rev:generation';
/** Only identity publishes on this channel. */
export const CHANNEL = 'rev';
/** The channel on which processes request revocations. Processes of the previous release use the other channel. */
export const QUESTIONS = 'rev:questions';

export const KINDS: readonly RevocationKind[] = [
  'sid',
  'user',
  'key',
  'agent',
  'asid',
  'rank',
  'signin',
  'consent',
  'tenant',
];

export type Notice =
  /** Revocations that were added (`at`: the time of a timed kind), or withdrawn. */
  | {
      readonly word: '+' | '-';
      readonly kind: RevocationKind;
      readonly ids: readonly string[];
      readonly at?: number;
    }
  /** A process that may have missed revocations requests all of them, or confirms that it has received them. */
  | { readonly word: '?' | '!'; readonly names: readonly string[] };

export const writeNotice = (notice: Notice): string =>
  JSON.stringify(
    'kind' in notice
      ? [notice.word, notice.kind, ...timeOf(notice), ...notice.ids]
      : [notice.word, ...notice.names],
  );

/** Returns undefined for a message that is no notice of ours. */
export function readNotice(message: string): Notice | undefined {
  let read: unknown;
  try {
    read = JSON.parse(message);
  } catch {
    return undefined;
  }
  if (!Array.isArray(read) || !read.every((each) => typeof each === 'string')) return undefined;
  const [word, ...rest] = read as string[];
  if (word === '?' || word === '!') return { word, names: rest };
  const kind = KINDS.find((each) => each === rest[0]);
  if (kind === undefined || (word !== '+' && word !== '-')) return undefined;
  if (!isTimed(kind)) return { word, kind, ids: rest.slice(1) };
  const at = Number(rest[1]);
  return Number.isSafeInteger(at) ? { word, kind, at, ids: rest.slice(2) } : undefined;
}

const timeOf = ({ kind, at = 0 }: { readonly kind: RevocationKind; readonly at?: number }) =>
  isTimed(kind) ? [String(at)] : [];
