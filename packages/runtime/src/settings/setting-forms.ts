import { isIP } from 'node:net';
import { isBrowserOrigin } from './browser-origin.ts';
import { type Secret, secret } from './secret.ts';

/** The syntax of one kind of setting. `read` returns undefined for a text of another form. */
export type Form<T> = { readonly form: string; readonly read: (text: string) => T | undefined };

const SECOND_MS = 1000;
const UNIT_MS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Converts `900`, `2s`, `15m`, `7d` to milliseconds. Undefined if the text is no duration. */
export function durationMs(text: string): number | undefined {
  const found = /^(\d{1,9})([smhd]?)$/.exec(text);
  if (found === null) return undefined;
  return Number(found[1]) * (UNIT_MS[found[2] || 's'] as number) * SECOND_MS;
}

export const oneOf = <const T extends string>(...words: readonly T[]): Form<T> => ({
  form: words.join(' | '),
  read: (text) => words.find((word) => word === text),
});

export const integer = (min: number, max: number): Form<number> => ({
  form: `a whole number from ${min} to ${max}`,
  read: (text) => within(/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN, min, max),
});

export const decimal = (min: number, max: number): Form<number> => ({
  form: `a number from ${min} to ${max}`,
  read: (text) => within(/^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN, min, max),
});

export const bool: Form<boolean> = {
  form: 'true | false',
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
};

/** A duration within limits in the same notation, e.g. `durationIn('1s', '24h', SECOND)`. */
export const duration = (min: string, max: string, unitMs: 1 | 1000): Form<number> => ({
  form: `a duration such as 900, 2s, 15m, 7d, from ${min} to ${max}`,
  read: (text) => {
    const ms = within(durationMs(text) ?? Number.NaN, durationMs(min) ?? 0, durationMs(max) ?? 0);
    return ms === undefined ? undefined : ms / unitMs;
  },
});

export const url = (...protocols: readonly string[]): Form<string> => ({
  form: `a URL that begins with ${protocols.map((each) => `${each}//`).join(' or ')}`,
  read: (text) => (protocols.includes(parsed(text)?.protocol ?? '') ? text : undefined),
});

/** Nothing may follow the path, and it may not end with a slash, because other URLs are made by appending to it. */
export const baseUrl: Form<string> = {
  form: 'an http(s) URL without user, query, fragment or trailing slash',
  read: (text) => {
    const at = parsed(text);
    const plain = at !== undefined && !/[?#]|\/$/.test(text) && at.username + at.password === '';
    return plain && /^https?:$/.test(at.protocol) ? text : undefined;
  },
};

/** Discovery, cookies and metadata cannot all be served below a path. */
export const ownOrigin: Form<string> = {
  form: 'an http(s) origin without a path or trailing slash, for Cardea needs a host of its own',
  read: (text) => {
    const url = baseUrl.read(text);
    return url !== undefined && new URL(url).pathname === '/' ? url : undefined;
  },
};

export const origin: Form<string> = {
  form: 'an https origin, or an http one of a loopback address',
  read: (given) => (isBrowserOrigin(given) ? given : undefined),
};

export const text = (form: string, pattern: RegExp): Form<string> => ({
  form,
  read: (given) => (pattern.test(given) ? given : undefined),
});

export const list = <T>(one: Form<T>, what: string, max: number): Form<readonly T[]> => ({
  form: `${what}, comma between, at most ${max}`,
  read: (given) => {
    const all = given.split(',').map((each) => one.read(each.trim()));
    if (all.length > max || all.some((each) => each === undefined)) return undefined;
    return all as readonly T[];
  },
});

export const cidr: Form<string> = {
  form: 'an address or CIDR block',
  read: (given) => {
    const [address = '', bits, ...more] = given.split('/');
    const family = isIP(address);
    if (family === 0 || more.length > 0) return undefined;
    if (bits === undefined) return given;
    const widest = family === 4 ? 32 : 128;
    return /^\d{1,3}$/.test(bits) && Number(bits) <= widest ? given : undefined;
  },
};

export const hidden = (inner: Form<string>): Form<Secret> => ({
  form: inner.form,
  read: (given) => {
    const read = inner.read(given);
    return read === undefined ? undefined : secret(read);
  },
});

const within = (value: number, min: number, max: number): number | undefined =>
  value >= min && value <= max ? value : undefined;

const parsed = (given: string): URL | undefined =>
  URL.canParse(given) ? new URL(given) : undefined;
