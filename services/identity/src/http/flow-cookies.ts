/**
 * What a flow that leads through other pages has to match when the browser comes back, in an encrypted cookie of that
 * browser: so no other browser can finish it. Each flow has a cookie of its own, named by its state, so several tabs
 * do not disturb each other.
 */
import { type DerivedKeys, openCookie, sameBytes, sealCookie, sha256 } from '@cardea/crypto';

/** Begun flows of one kind. */
export type FlowKind = {
  /** The cookies' names begin with it; with `__Host-` where they are sent over https alone. */
  readonly prefix: string;
  readonly isSecure: boolean;
  readonly aad: readonly string[];
};

export type PendingFlow = {
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
};

/** What a browser sends, and what is needed to read it. */
export type Sent = {
  readonly header: string | undefined;
  readonly keys: DerivedKeys;
  readonly now: Date;
};

const NAME_CHARACTERS = 8;
/** How long somebody may stay at the other pages. */
export const FLOW_MS = 10 * 60_000;
/** Flows of one kind in one browser at the same time; beyond either bound the oldest is given up. */
export const FLOW_COOKIES_MAX = 5;
/** Servers refuse requests whose headers exceed 8 to 16 KiB. */
const COOKIES_BYTES_MAX = 5 * 1024;

export function flowCookies<Pending extends PendingFlow>({ prefix, isSecure, aad }: FlowKind) {
  const form = new RegExp(`(${prefix}[0-9a-f]{${NAME_CHARACTERS}})=([A-Za-z0-9_-]+)`, 'g');
  const nameOf = (state: string): string =>
    `${prefix}${sha256(state).toString('hex').slice(0, NAME_CHARACTERS)}`;
  // Lax, as the browser comes back from other pages.
  const cookie = (name: string, value: string, seconds: number): string =>
    `${name}=${value}; Path=/; Max-Age=${seconds}; ${isSecure ? 'Secure; ' : ''}HttpOnly; SameSite=Lax`;
  const cookiesOf = ({ header, keys, now }: Sent) =>
    [...(header ?? '').matchAll(form)].map(([, name = '', value = '']) => {
      const text = openCookie(value, aad, keys);
      const read: Pending | undefined = text === undefined ? text : JSON.parse(text);
      const pending = read !== undefined && now.getTime() < read.expiresAt ? read : undefined;
      return { name, value, pending, expiresAt: pending?.expiresAt };
    });
  const newestFirst = (sent: Sent) =>
    cookiesOf(sent).toSorted((one, other) => (other.expiresAt ?? 0) - (one.expiresAt ?? 0));
  return {
    ended: (state: string): string => cookie(nameOf(state), '', 0),
    /** The cookie of a flow that begins, and the removal of those for which the browser has no room. */
    begun: (pending: Pending, sent: Sent): string[] => {
      const sealed = sealCookie(JSON.stringify(pending), aad, sent.keys);
      const ended: string[] = [];
      let [count, bytes] = [1, sealed.length];
      for (const { name, value, expiresAt } of newestFirst(sent)) {
        count += 1;
        bytes += value.length;
        const hasRoom = count <= FLOW_COOKIES_MAX && bytes <= COOKIES_BYTES_MAX;
        if (expiresAt === undefined || !hasRoom) ended.push(cookie(name, '', 0));
      }
      return [cookie(nameOf(pending.state), sealed, FLOW_MS / 1_000), ...ended];
    },
    /** Undefined without one of this state, with one that was changed, and with one that is too old. */
    pending: (state: string, sent: Sent): Pending | undefined => {
      const name = nameOf(state);
      const found = cookiesOf(sent).find(
        (each) => each.name === name && each.pending !== undefined,
      );
      const pending = found?.pending;
      return pending !== undefined && sameBytes(sha256(pending.state), sha256(state))
        ? pending
        : undefined;
    },
  };
}
