import Type, { type Static, type TSchema } from 'typebox';

/** What the REST surfaces of all services have in common: the error body, and lists by page. */
/**
 * Gives a shape the name that clients' types have: in the OpenAPI document it stands once, under this
 * name. Two different shapes of one name are refused when the document is made.
 */
export const named = <Schema extends TSchema>(name: string, schema: Schema): Schema => ({
  ...schema,
  title: name,
});

/**
 * Adds keywords that the OpenAPI document shows and the handler enforces, because a code of its own says
 * more than `invalid_request` does.
 */
export const documented = <Schema extends TSchema>(
  schema: Schema,
  keywords: { readonly [keyword: string]: unknown },
): Schema => ({ ...schema, documented: keywords });

/** A moment in an answer: RFC 3339 in UTC. */
export const Time = Type.String({ format: 'date-time' });
export const NullableTime = Type.Union([Time, Type.Null()]);

export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.String(),
      message: Type.String(),
      request_id: Type.String(),
      details: Type.Optional(Type.Unknown()),
    }),
  },
  { description: 'The one error body. A message never quotes input.' },
);
export type ErrorBody = Static<typeof ErrorBody>;

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 1000;
/** Beyond it a list is searched, not paged. */
export const PAGE_OFFSET_MAX = 1_000_000;

const OFFSET = Type.Integer({ minimum: 0, maximum: PAGE_OFFSET_MAX, default: 0 });
const LIMIT = Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT });

/** Query of a list by page; spread into an object schema with the list's own filters. */
export const pageQuery = { offset: Type.Optional(OFFSET), limit: Type.Optional(LIMIT) };
/** What a list by page answers beside its rows. */
export const pageAnswer = {
  total: Type.Integer({ minimum: 0 }),
  offset: Type.Integer({ minimum: 0 }),
  limit: Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX }),
};
