/** A table with its filters, its paging and the call that it shows. */
import { html, type Markup, NOTHING } from '../markup.ts';
import { table } from '../parts.ts';
import type { FrameTextKey } from '../texts/frame-texts.ts';
import type { Say } from '../texts/texts.ts';
import { choicesOf, type Property } from './form-body.ts';
import type { Read, Strings } from './page-types.ts';

/** The largest offset. Further rows are found by a filter instead. */
const OFFSET_MAX = 10_000;
const FILTER_MAX_CHARS = 128;

export type ListView<Key extends string, Row> = {
  /** The name of the read whose rows it shows. */
  readonly read: string;
  readonly caption: Key;
  readonly rows: readonly Row[];
  readonly columns: readonly {
    readonly label: Key | FrameTextKey;
    readonly isNumber?: boolean;
    readonly cell: (row: Row) => string | Markup;
  }[];
  /** The total number, if the list is paged by offset. */
  readonly total?: number;
  /** The cursor of the next page, if the list is paged by cursor. */
  readonly nextCursor?: string | null;
  /** Filters: members of the query, with their texts. */
  readonly filters?: readonly {
    readonly name: string;
    readonly label: Key | FrameTextKey;
    readonly options?: { readonly [value: string]: Key | FrameTextKey };
  }[];
  /** Shown for an empty list: what the list is for and how something gets into it. */
  readonly nothing: Markup | string;
};

export type ListContext<Key extends string> = {
  readonly say: Say<Key>;
  readonly path: string;
  readonly read: Read;
  /** The query of the page's address, by the endpoint's names. */
  readonly query: Strings;
  readonly curl: Markup;
};

export function listView<Key extends string, Row>(
  of: ListContext<Key>,
  list: ListView<Key, Row>,
): Markup {
  const { say, path, query, curl } = of;
  const isFiltered = (list.filters ?? []).some(({ name }) => (query[name] ?? '') !== '');
  const filters = filtersOf(of, list);
  if (list.rows.length === 0 && isFiltered) {
    return html`${filters}<p>${say('list.not_found')}</p><p><a class="button" href="${path}">${say('list.clear')}</a></p>${curl}`;
  }
  if (list.rows.length === 0 && (query['offset'] ?? '0') === '0') {
    return html`<p class="muted">${list.nothing}</p>${curl}`;
  }
  const shown = table({
    caption: say(list.caption),
    columns: list.columns.map(({ label, isNumber = false }) => ({ label: say(label), isNumber })),
    rows: list.rows.map((row) => list.columns.map(({ cell }) => cell(row))),
  });
  return html`${filters}${shown}${pagerOf(of, list)}${curl}`;
}

function filtersOf<Key extends string, Row>(
  { say, path, read, query }: ListContext<Key>,
  { filters = [] }: ListView<Key, Row>,
): Markup {
  if (filters.length === 0) return NOTHING;
  const schema = (read.endpoint.contract.query as Property | undefined)?.properties ?? {};
  const fields = filters.map(({ name, label, options = {} }) => {
    const id = read.url?.[name] ?? name;
    const value = query[name] ?? '';
    const choices = choicesOf(schema[name] ?? {});
    const control =
      choices.length === 0
        ? html`<input id="filter-${id}" name="${id}" value="${value}" maxlength="${FILTER_MAX_CHARS}" autocomplete="off">`
        : html`<select id="filter-${id}" name="${id}"><option value="">${say('list.all')}</option>${choices.map((each) => html`<option value="${each}"${each === value ? html` selected` : NOTHING}>${options[each] === undefined ? each : say(options[each])}</option>`)}</select>`;
    return html`<div class="field"><label for="filter-${id}">${say(label)}</label>${control}</div>`;
  });
  return html`<form class="filters" method="get" action="${path}">${fields}<button>${say('list.filter')}</button></form>
`;
}

function pagerOf<Key extends string, Row>(
  { say, path, read, query }: ListContext<Key>,
  { rows, total, nextCursor }: ListView<Key, Row>,
): Markup {
  const nameOf = (name: string) => read.url?.[name] ?? name;
  const linkTo = (change: Strings, text: string): Markup => {
    const kept = Object.entries({ ...query, ...change })
      .filter(([name, value]) => value !== '' && read.url?.[name] !== undefined)
      .map(([name, value]) => [nameOf(name), value] as [string, string]);
    const search = new URLSearchParams(kept);
    return html`<a class="button" href="${path}${search.size === 0 ? '' : `?${search}`}">${text}</a>`;
  };
  if (nextCursor !== undefined) {
    if (nextCursor === null && (query['cursor'] ?? '') === '') return NOTHING;
    const first =
      (query['cursor'] ?? '') === '' ? NOTHING : linkTo({ cursor: '' }, say('list.first'));
    const next = nextCursor === null ? NOTHING : linkTo({ cursor: nextCursor }, say('list.next'));
    return html`<nav class="pager" aria-label="${say('list.pages')}">${first}${next}</nav>
`;
  }
  if (total === undefined || total === rows.length) return NOTHING;
  const limit = Number(read.preset?.['limit'] ?? rows.length);
  const offset = Number(query['offset'] ?? 0);
  const before =
    offset === 0
      ? NOTHING
      : linkTo({ offset: String(Math.max(0, offset - limit)) }, say('list.before'));
  const after = offset + limit;
  const next =
    after >= total
      ? NOTHING
      : after >= OFFSET_MAX
        ? html`<span>${say('list.narrow')}</span>`
        : linkTo({ offset: String(after) }, say('list.next'));
  const range = {
    from: String(offset + 1),
    to: String(offset + rows.length),
    total: String(total),
  };
  return html`<nav class="pager" aria-label="${say('list.pages')}">${before}<span>${say('list.range', range)}</span>${next}</nav>
`;
}
