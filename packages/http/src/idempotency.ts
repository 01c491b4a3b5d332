/** A repeated request is the same command: its id comes from who asks, for what, under which key. */
import { hash } from 'node:crypto';
import type { Principal } from '@cardea/auth';
import { uuidFrom } from '@cardea/runtime';
import { canonicalJson } from './json.ts';

/** 1-128 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,128}$/;

export const isIdempotencyKey = (key: string): boolean => KEY.test(key);

export const idempotentCommandId = (
  of: {
    readonly tenantId: string;
    readonly principal: Principal | undefined;
    readonly operation: string;
  },
  key: string,
): string => {
  const who = of.principal === undefined ? 'anyone' : `${of.principal.kind} ${of.principal.id}`;
  return uuidFrom('idempotency', of.tenantId, who, of.operation, key);
};

export const bodyHash = (body: unknown): string => hash('sha256', canonicalJson(body), 'hex');
