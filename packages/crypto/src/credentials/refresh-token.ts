import type { DerivedKeys } from '../derive.ts';
import { hmac, sameBytes } from '../digest.ts';

/**
 * A refresh token: `rt_<session id>.<sequence>.<mac>`. The MAC depends on the salt of the session's stream and on the
 * deployment's secret, so neither alone suffices to forge one. No part of the token is stored.
 */
export type RefreshToken = {
  readonly sid: string;
  readonly seq: number;
  readonly mac: string;
};

const FORM =
  /^rt_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.(0|[1-9]\d{0,8})\.([\w-]{43})$/;

/** `key` is derived from JWT_SECRET for `refresh/v1`. */
export const issueRefreshToken = (
  key: Buffer,
  of: { readonly salt: string; readonly sid: string; readonly seq: number },
): string => printRefreshToken({ sid: of.sid, seq: of.seq, mac: macOf(key, of) });

export const printRefreshToken = ({ sid, seq, mac }: RefreshToken): string =>
  `rt_${sid}.${seq}.${mac}`;

/** Undefined for any other text, since a token has only one text. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  const [, sid, seq, mac] = FORM.exec(text) ?? [];
  if (sid === undefined || seq === undefined || mac === undefined) return undefined;
  if (Buffer.from(mac, 'base64url').toString('base64url') !== mac) return undefined;
  return { sid, seq: Number(seq), mac };
}

/** Compares in constant time, under the current and the previous secret. */
export function isGenuineRefreshToken(
  keys: DerivedKeys,
  token: RefreshToken,
  salt: string,
): boolean {
  const { sid, seq } = token;
  return [keys.current, keys.previous].some(
    (key) => key !== undefined && sameBytes(macOf(key, { salt, sid, seq }), token.mac),
  );
}

const macOf = (
  key: Buffer,
  { salt, sid, seq }: { readonly salt: string; readonly sid: string; readonly seq: number },
): string => hmac(key, salt, sid, String(seq)).toString('base64url');
