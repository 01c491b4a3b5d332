/**
 * Stores the values that a flow through other sites has to match when the browser returns. They are in an encrypted
 * cookie of that browser, so no other browser can complete the flow. Each flow has its own cookie, named by its state,
 * so several tabs do not interfere.
 */
import { type DerivedKeys, openCookie, sameBytes, sealCookie, sha256 } from '@cardea/crypto';

/** One kind of flow. */
export type FlowKind = {
  /** The prefix of the cookies' names, after `__Host-` if they are sent over https only. */
  readonly prefix: string;
  readonly isSecure: boolean;
  readonly aad: readonly string[];
};

export type PendingFlow = {
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
};

/** The cookies that a browser sent, and the keys to read them. */
export type Sent = {
  readonly header: string | undefined;
  readonly keys: DerivedKeys;
  readonly now: Date;
};

const NAME_CHARACTERS = 8;
/** How long a person may stay at the other pages. */
export const FLOW_MS = 10 * 60_000;
/** The most flows of one kind in one browser. Beyond this bound or the byte limit the oldest flow is dropped. */
export const FLOW_COOKIES_MAX = 5;
/** Servers refuse requests whose headers exceed 8 to 16 KiB. */
const COOKIES_BYTES_MAX = 5 * 1024;

export function flowCookies<Pending extends PendingFlow>({ prefix, isSecure, aad }: FlowKind) {
  const form = new RegExp(`(${prefix}[0-9a-f]{${NAME_CHARACTERS}})=([A-Za-z0-9_-]+)`, 'g');
  const nameOf = (state: string): string =>
    `${prefix}${sha256(state).toString('hex').slice(0, NAME_CHARACTERS)}`;
  // `SameSite=Lax`, because the browser returns from other sites.
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
    /** Returns the cookie of a new flow, and the removal of cookies for which there is no room. */
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
    /** Returns undefined if no cookie has this state, or if it was changed or has expired. */
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
