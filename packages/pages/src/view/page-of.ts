/** A page as its service describes it: what it reads, what its forms do, and how it looks. */
import type { Endpoint } from '@cardea/http';
import type { TObject } from 'typebox';
import type { Frame, PageBody } from '../page.ts';

export type PageForm = {
  /** It belongs to the same service; what it answers and refuses is what the form does. */
  readonly endpoint: Endpoint;
  /** Those fields of its body that the form sends. An empty one is left out. */
  readonly fields: readonly string[];
};

export type PageOf<Key extends string, Data> = {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** Below `/approve` or `/account`; `{id}` is a parameter of its endpoints, too. */
  readonly path: string;
  readonly params?: TObject;
  readonly reads: Endpoint;
  readonly forms: { readonly [name: string]: PageForm };
  /** Answers when what is shown has changed; a script asks it, and the page is loaded again. */
  readonly changes?: Endpoint;
  readonly view: (shown: Shown<Key, Data>) => PageBody;
};

export type Shown<Key extends string, Data> = {
  readonly frame: Frame<Key>;
  readonly data: Data;
  readonly userId: string;
  readonly now: Date;
  /** Where its forms lead, and what each has to send. */
  readonly path: string;
  readonly formToken: string;
  /** What the form sends that signs out. */
  readonly signOutToken: string;
  /** What was typed into a form that was refused. */
  readonly typed: { readonly [field: string]: string };
  /** Why it was refused: the endpoint's code. */
  readonly refused: string | undefined;
};
