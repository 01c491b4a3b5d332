/** A page as its service describes it: its reads, its forms, and its view. */
import type { Endpoint } from '@cardea/http';
import type { TObject } from 'typebox';
import type { Markup } from '../markup.ts';
import type { Frame, PageBody } from '../page.ts';
import type { FrameTextKey } from '../texts/frame-texts.ts';
import type { ListView } from './list-view.ts';
import type { FormField, Read, Strings } from './page-types.ts';

export type { FormField, Read, Strings };

export type PageForm<Key extends string, Data> = {
  /** An endpoint of the same service, which the form calls. Its responses and refusals are the form's. */
  readonly endpoint: Endpoint;
  readonly fields: readonly FormField<Key>[];
  /** Members of the body that the person does not type, or a function that returns them for the id of the person. */
  readonly preset?: object | ((userId: string) => object);
  readonly title: Key | FrameTextKey;
  readonly submit: Key | FrameTextKey;
  /** The notice on the next page. */
  readonly done?: Key | FrameTextKey;
  /** Set if the form is shown alone, at `?form=`. Returns a text that states the effect in advance, in numbers. */
  readonly opens?: (shown: Shown<Key, Data>, params: Strings) => string | Markup;
  /** Whether the person can use the form now. Without it, the form is not shown alone either. */
  readonly isOffered?: (data: Data) => boolean;
  /** A text that has to be typed before an irreversible action. */
  readonly confirmedBy?: (shown: Pick<Shown<Key, Data>, 'data'>) => string;
  /** The member of the body that contains the confirmation, if the endpoint requires it too. */
  readonly confirmedAs?: string;
  /** The fields that refusals are about, by code. The page's alert then becomes the field's description. */
  readonly refusedAt?: Strings;
  /** The initial values of the fields. A PATCH sends only values that differ from them. */
  readonly current?: (data: Data, params: Strings) => { readonly [field: string]: unknown };
  /** The page that shows the response once and not again. */
  readonly once?: (shown: Shown<Key, Data>, answer: never) => PageBody;
  /** Set if the response is a file of this name. The browser saves it and stays on the page. */
  readonly download?: string;
  /** The endpoint that returns the options for creating a passkey, for a form that sends one. */
  readonly passkey?: Endpoint;
};

export type PageOf<Key extends string, Data> = {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** The path begins with `/approve` or `/account`. `{id}` is also a parameter of the page's endpoints. */
  readonly path: string;
  readonly params?: TObject;
  /** The reads of the page, by their names in `data`. The first refusal determines the page. */
  readonly reads: { readonly [name: string]: Read };
  readonly forms: { readonly [name: string]: PageForm<Key, Data> };
  /** An endpoint that responds when the shown data has changed. A script calls it, and then reloads the page. */
  readonly changes?: Endpoint;
  readonly view: (shown: Shown<Key, Data>) => PageBody;
  /** Parts of the page that pages of other services show, by name. */
  readonly parts?: { readonly [name: string]: (shown: Shown<Key, Data>) => Markup };
};

export type FormUse = {
  /** The parameters of the form's endpoint that identify its object. */
  readonly params?: Strings;
  /** Fields that are left out here. */
  readonly without?: readonly string[];
  /** Whether the form is shown in this page although it could be shown alone. */
  readonly isHere?: boolean;
  /** The name of the object, for users of screen readers, which read the button without its row. */
  readonly about?: string;
};

export type Shown<Key extends string, Data> = {
  readonly frame: Frame<Key>;
  readonly data: Data;
  readonly userId: string;
  readonly now: Date;
  /** The path to which its forms are posted. */
  readonly path: string;
  /** The markup of a form, or a link to where it is shown alone. */
  readonly form: (name: string, use?: FormUse) => Markup;
  /** A table with its filters, its paging, and the call that it shows. */
  readonly list: <Row>(of: ListView<Key, Row>) => Markup;
  /** The curl command of one of the reads. */
  readonly curl: (read: string) => Markup;
};
