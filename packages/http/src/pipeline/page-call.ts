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
  readonly headers: Call['headers'];
  readonly doubled = NONE;
  readonly isHead = false;

  constructor(page: Call, given: Played) {
    this.#page = page;
    this.#given = given;
    const passed = PASSED.map((name) => [name, page.headers[name]] as const);
    this.headers = { ...Object.fromEntries(passed), ...given.headers };
  }

  get parts() {
    return this.#page.parts;
  }

  get ip() {
    return this.#page.ip;
  }

  get requestId() {
    return this.#page.requestId;
  }

  get traceparent() {
    return this.#page.traceparent;
  }

  get signal() {
    return this.#page.signal;
  }

  get socket() {
    return this.#page.socket;
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
