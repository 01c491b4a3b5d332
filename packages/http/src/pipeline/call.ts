/** One call of an endpoint: from the socket, or from a page that shows the endpoint's response. */
import type { Socket } from 'node:net';
import type { Authentication, Authenticator, Principal } from '@cardea/auth';
import type { ServerParts } from '../context/http-context.ts';
import type { Refusal } from '../refusals/refusal.ts';
import type { ReadStrings, Route } from './route.ts';

export type Input = { readonly value: unknown } | { readonly refusal: Refusal } | 'gone';

export interface Call {
  readonly parts: ServerParts;
  /** Header names are in lower case. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** Names of the headers that may appear once but came more than once. */
  readonly doubled: ReadonlySet<string>;
  readonly isHead: boolean;
  readonly ip: string;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  readonly signal: AbortSignal;
  /** The connection on which the call arrived. */
  readonly socket: Socket;
  /** Set when the caller is known. */
  principal: Principal | undefined;
  /** Returns a promise only if the credential has to be looked up. */
  authenticated(by: Authenticator): Authentication | Promise<Authentication>;
  /** Waits until a request of this tenant may begin. Undefined if it may begin at once. */
  turn(tenantId: string): Promise<void> | undefined;
  /** Ends a part of a long response, and waits until the tenant's next part may begin. */
  nextPart(): Promise<void>;
  /** Ends the turn of this request before its response. */
  endTurn(): void;
  /** Path parameters and query. */
  strings(route: Route): ReadStrings;
  /** The body. A promise only if it has not arrived yet. */
  input(route: Route): Input | Promise<Input>;
  /** Whether the client has disconnected. */
  isGone(): boolean;
}
