/**
 * Builds pages from a service's endpoints and texts. Inconsistencies do not compile: a field that the body lacks, a
 * required member that is never typed, a refusal without a text, a text that is missing in a language.
 */
import type { Endpoint, EndpointOf, EndpointShape } from '@cardea/http';
import type { FrameTextKey } from '../texts/frame-texts.ts';
import type { Catalogue } from '../texts/texts.ts';
import type { FormField, PageForm, PageOf, Read } from './page-of.ts';

type ShapeOf<Of> = Of extends EndpointOf<infer Shape> ? Shape : EndpointShape;

/** Members of a body and, with a dot, members of the objects in it. */
type FieldsOf<Body> = {
  [Name in keyof Body & string]:
    | Name
    | (NonNullable<Body[Name]> extends readonly unknown[] | string | number | boolean
        ? never
        : `${Name}.${keyof NonNullable<Body[Name]> & string}`);
}[keyof Body & string];
type RequiredOf<Body> = {
  [Name in keyof Body & string]-?: Record<never, never> extends Pick<Body, Name> ? never : Name;
}[keyof Body & string];
type RootOf<Field extends string> = Field extends `${infer Root}.${string}` ? Root : Field;

/** Accepts anything if nothing is missing. Otherwise names what is missing. */
type Complete<Missing> = [Missing] extends [never] ? unknown : { readonly lacks: Missing };
type TextOf<Reason extends string> = `refused.${Reason}`;

type Typed<Key extends string, Name extends string> = Omit<FormField<Key>, 'name'> & {
  readonly name: Name;
};

/** The responses of the reads, by name. */
type DataOf<Reads extends { readonly [name: string]: Read }> = {
  readonly [Name in keyof Reads]: ShapeOf<Reads[Name]['endpoint']>['ok'];
};

export const pagesOf = <Key extends string>(texts: Catalogue<Key>) => ({
  texts,
  /** A form for an endpoint. */
  formOf: <
    Shape extends EndpointShape,
    const Field extends FieldsOf<Shape['body']>,
    Data,
    const Preset extends Partial<Shape['body']> = Record<never, never>,
    const Confirmed extends keyof Shape['body'] & string = never,
  >(
    endpoint: EndpointOf<Shape>,
    form: Omit<PageForm<Key, Data>, 'endpoint' | 'fields' | 'preset' | 'once' | 'confirmedAs'> & {
      readonly fields: readonly Typed<Key, Field>[];
      readonly preset?: Preset | ((userId: string) => Preset);
      readonly confirmedAs?: Confirmed;
      readonly once?: (
        shown: Parameters<NonNullable<PageForm<Key, Data>['once']>>[0],
        answer: Shape['ok'],
      ) => ReturnType<NonNullable<PageForm<Key, Data>['once']>>;
    } & Complete<Exclude<RequiredOf<Shape['body']>, RootOf<Field> | keyof Preset | Confirmed>> &
      Complete<Exclude<TextOf<Shape['reason']>, Key | FrameTextKey>>,
  ): PageForm<Key, Data> => ({ ...form, endpoint }) as PageForm<Key, Data>,
  /** A page, whose view gets the responses of its reads. */
  pageOf: <const Reads extends { readonly [name: string]: Read }>(
    page: Omit<PageOf<Key, DataOf<Reads>>, 'reads'> & { readonly reads: Reads },
  ): PageOf<Key, DataOf<Reads>> => page,
});

/** Declares a read of an endpoint. `query` states the source of each member of its query. */
export const read = <Of extends Endpoint>(
  endpoint: Of,
  query: {
    readonly url?: { readonly [Name in keyof ShapeOf<Of>['query']]?: string };
    readonly preset?: { readonly [Name in keyof ShapeOf<Of>['query']]?: string };
    readonly path?: { readonly [Name in keyof ShapeOf<Of>['query']]?: string };
    readonly person?: keyof ShapeOf<Of>['query'] & string;
  } = {},
): Omit<Read, 'endpoint'> & { readonly endpoint: Of } =>
  ({ endpoint, ...query }) as Read & {
    readonly endpoint: Of;
  };
