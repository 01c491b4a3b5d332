/** A call that a page makes of an endpoint of its own service, within the request for that page. */
import type { Authenticator, Principal } from '@cardea/auth';
import type { Played } from '../contract/endpoint.ts';
import { invalid, refusalOf } from '../refusals/refusal.ts';
import type { Call, Input } from './call.ts';
import { type ReadStrings, type Route, withQuery } from './route.ts';

const NONE: ReadonlySet<string> = new Set();
/** The browser's own headers that an endpoint may see. The page sets all others itself. */
const PASSED = ['user-agent', 'accept-language'] as const;

export class PageCall implements Call {
  readonly #page: Call;
  readonly #given: Played;
  readonly parts: Call['parts'];
  readonly headers: Call['headers'];
  readonly ip: string;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  readonly signal: AbortSignal;
  readonly socket: Call['socket'];
  readonly doubled = NONE;
  readonly isHead = false;

  constructor(page: Call, given: Played) {
    this.#page = page;
    this.#given = given;
    this.parts = page.parts;
    this.ip = page.ip;
    this.requestId = page.requestId;
    this.traceparent = page.traceparent;
    this.signal = page.signal;
    this.socket = page.socket;
    const passed = PASSED.map((name) => [name, page.headers[name]] as const);
    this.headers = { ...Object.fromEntries(passed), ...given.headers };
  }

  get principal(): Principal | undefined {
    return this.#page.principal;
  }

  /** The person is also logged with the page's own request. */
  set principal(found: Principal | undefined) {
    this.#page.principal = found;
  }

  authenticated(by: Authenticator): ReturnType<Authenticator['authenticate']> {
    return by.authenticate(this.#given.credential, this.ip, this.socket, undefined);
  }

  /** The request for the page has begun already. */
  turn(): undefined {
    return undefined;
  }

  async nextPart(): Promise<void> {}

  endTurn(): void {}

  strings(route: Route): ReadStrings {
    const checked = route.checkParams(this.#given.params ?? {});
    if ('faults' in checked) return checked;
    return withQuery(checked.value, route.checkQuery(this.#given.query ?? {}));
  }

  input({ bodyRule, checkBody }: Route): Input {
    if (bodyRule === undefined) return { value: {} };
    const { body = {} } = this.#given;
    if (Buffer.byteLength(JSON.stringify(body)) > bodyRule.limitBytes) {
      return { refusal: refusalOf('body_too_large') };
    }
    const checked = checkBody(body);
    return 'faults' in checked ? { refusal: invalid(...checked.faults) } : checked;
  }

  isGone(): boolean {
    return this.#page.isGone();
  }
}
