/** One call of an endpoint: from the socket, or from a page that shows the endpoint's answer. */
import type { Socket } from 'node:net';
import type { Authentication, Authenticator, Principal } from '@cardea/auth';
import type { ServerParts } from '../context/http-context.ts';
import type { Refusal } from '../refusals/refusal.ts';
import type { ReadStrings, Route } from './route.ts';

export type Input = { readonly value: unknown } | { readonly refusal: Refusal } | 'gone';

export interface Call {
  readonly parts: ServerParts;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** Names of those headers that may appear once, and that came more than once. */
  readonly doubled: ReadonlySet<string>;
  readonly isHead: boolean;
  readonly ip: string;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  readonly signal: AbortSignal;
  /** The connection that it came on. */
  readonly socket: Socket;
  /** Set once the caller is known. */
  principal: Principal | undefined;
  /** A promise only where the credential has to be asked for. */
  authenticated(by: Authenticator): Authentication | Promise<Authentication>;
  /** Waits until a request of this tenant may begin; undefined where it may at once. */
  turn(tenantId: string): Promise<void> | undefined;
  /** Path parameters and query. */
  strings(route: Route): ReadStrings;
  /** The body; a promise only where it is not here yet. */
  input(route: Route): Input | Promise<Input>;
  /** True where nobody is left to read an answer. */
  isGone(): boolean;
}
