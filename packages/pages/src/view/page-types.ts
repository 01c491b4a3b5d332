/** What a page names of its endpoints: the reads that it shows, and the fields of its forms. */
import type { Endpoint } from '@cardea/http';
import type { FrameTextKey } from '../texts/frame-texts.ts';

export type Strings = { readonly [name: string]: string };

/** What a page shows: the answer of an endpoint of the same service. */
export type Read = {
  readonly endpoint: Endpoint;
  /** Members of its query that the address of the page gives, by the name that they have there. */
  readonly url?: Strings;
  readonly preset?: Strings;
  /** Members of its query that the path of the page gives, by the name that they have there. */
  readonly path?: Strings;
  /** The member of its query that names the person who looks. */
  readonly person?: string;
};

export type FormField<Key extends string> = {
  /** A member of the body; with a dot, one of an object in it. */
  readonly name: string;
  readonly label: Key | FrameTextKey;
  readonly help?: Key | FrameTextKey;
  /** `lines`: one element of a list a line. Passwords and codes are never shown again. */
  readonly kind?: 'text' | 'email' | 'password' | 'new_password' | 'code' | 'digits' | 'lines';
  readonly autocomplete?: string;
  /** The values that may be chosen, in place of those of the schema, each with its text. */
  readonly options?: readonly { readonly value: string; readonly label: Key | FrameTextKey }[];
};
