/** How a page refers to its endpoints: the reads that it shows, and the fields of its forms. */
import type { Endpoint } from '@cardea/http';
import type { FrameTextKey } from '../texts/frame-texts.ts';

export type Strings = { readonly [name: string]: string };

/** A read of a page: the response of an endpoint of the same service. */
export type Read = {
  readonly endpoint: Endpoint;
  /** Members of its query that come from the page's address, by their names there. */
  readonly url?: Strings;
  readonly preset?: Strings;
  /** Members of its query that come from parameters of the page's path, by their names there. */
  readonly path?: Strings;
  /** The member of the endpoint's query that names the viewer. */
  readonly person?: string;
};

export type FormField<Key extends string> = {
  /** A member of the body. With a dot, a member of an object in it. */
  readonly name: string;
  readonly label: Key | FrameTextKey;
  readonly help?: Key | FrameTextKey;
  /**
   * `lines`: one list element per line. `time`: a day and a time of it, in UTC. `secret`: a secret that is no password
   * of the person, so browsers offer none. Passwords, secrets and codes are never shown again.
   */
  readonly kind?:
    | 'text'
    | 'email'
    | 'password'
    | 'new_password'
    | 'secret'
    | 'code'
    | 'digits'
    | 'lines'
    | 'time';
  readonly autocomplete?: string;
  /** The values that may be chosen, instead of the schema's, each with its text. */
  readonly options?: readonly { readonly value: string; readonly label: Key | FrameTextKey }[];
};
