/** A page as its service describes it: what it reads, what its forms do, and how it looks. */
import type { Endpoint } from '@cardea/http';
import type { TObject } from 'typebox';
import type { Markup } from '../markup.ts';
import type { Frame, PageBody } from '../page.ts';
import type { FrameTextKey } from '../texts/frame-texts.ts';
import type { ListView } from './list-view.ts';
import type { FormField, Read, Strings } from './page-types.ts';

export type { FormField, Read, Strings };

export type PageForm<Key extends string, Data> = {
  /** It belongs to the same service; what it answers and refuses is what the form does. */
  readonly endpoint: Endpoint;
  readonly fields: readonly FormField<Key>[];
  /** Members of the body that nobody types; a function of the id of whoever sends the form. */
  readonly preset?: object | ((userId: string) => object);
  readonly title: Key | FrameTextKey;
  readonly submit: Key | FrameTextKey;
  /** What the next page says. */
  readonly done?: Key | FrameTextKey;
  /** Shown by itself, at `?form=`, with what it says beforehand: what ends, in numbers. */
  readonly opens?: (shown: Shown<Key, Data>, params: Strings) => string | Markup;
  /** What has to be typed before the form does what cannot be taken back. */
  readonly confirmedBy?: (shown: Pick<Shown<Key, Data>, 'data'>) => string;
  /** The member of the body that takes it, where the endpoint asks for it, too. */
  readonly confirmedAs?: string;
  /** What the fields show at first. A PATCH sends what differs from it. */
  readonly current?: (data: Data, params: Strings) => { readonly [field: string]: unknown };
  /** The page that shows the answer, which is not shown again. */
  readonly once?: (shown: Shown<Key, Data>, answer: never) => PageBody;
  /** The answer is a file of this name, which the browser keeps; the page stays as it is. */
  readonly download?: string;
  /** Answers what a browser needs to make a passkey, for a form that sends one. */
  readonly passkey?: Endpoint;
};

export type PageOf<Key extends string, Data> = {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** Below `/approve` or `/account`; `{id}` is a parameter of its endpoints, too. */
  readonly path: string;
  readonly params?: TObject;
  /** By the name that each has in `data`. The first that refuses is the page. */
  readonly reads: { readonly [name: string]: Read };
  readonly forms: { readonly [name: string]: PageForm<Key, Data> };
  /** Answers when what is shown has changed; a script asks it, and the page is loaded again. */
  readonly changes?: Endpoint;
  readonly view: (shown: Shown<Key, Data>) => PageBody;
  /** What pages of other services show of it, by name. */
  readonly parts?: { readonly [name: string]: (shown: Shown<Key, Data>) => Markup };
};

export type FormUse = {
  /** The object that the form is about, by the parameters of its endpoint. */
  readonly params?: Strings;
  /** Fields that do not matter here. */
  readonly without?: readonly string[];
  /** Here and not by itself, though it could be opened. */
  readonly isHere?: boolean;
  /** Names the object, for those who hear the button apart from its row. */
  readonly about?: string;
};

export type Shown<Key extends string, Data> = {
  readonly frame: Frame<Key>;
  readonly data: Data;
  readonly userId: string;
  readonly now: Date;
  /** Where its forms lead. */
  readonly path: string;
  /** Markup of a form, or a link to where it is shown by itself. */
  readonly form: (name: string, use?: FormUse) => Markup;
  /** A table with its filters, its pages, and the call that it shows. */
  readonly list: <Row>(of: ListView<Key, Row>) => Markup;
  /** The call that one of the reads makes. */
  readonly curl: (read: string) => Markup;
};
