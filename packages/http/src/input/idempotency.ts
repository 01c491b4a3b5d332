/** A repeated request is the same command: the service derives the command id from the sent key. */
import { hash } from 'node:crypto';
import type { Request } from '../contract/endpoint.ts';
import { canonicalJson } from './json.ts';

/** 1-128 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,128}$/;

/** Returns the request with the command id of its `Idempotency-Key`. Without a key it is unchanged. */
export type Identify = <R extends Request<unknown, unknown, unknown>>(request: R) => Promise<R>;

export const isIdempotencyKey = (key: string): boolean => KEY.test(key);

export const bodyHash = (body: unknown): string => hash('sha256', canonicalJson(body), 'hex');
