/** Parts of pages that show data: a status, facts, a table. */

import { utcText } from '@cardea/mail';
import { html, type Markup } from './markup.ts';
import type { Tone } from './tones.ts';

/** A status has a shape and a word besides its colour, so that it can be recognised without colour. */
export const tag = (tone: Tone, word: string): Markup =>
  html`<span class="tag ${tone}"><span aria-hidden="true">${SHAPES[tone]}</span> ${word}</span>`;

const SHAPES: { readonly [tone in Tone]: string } = {
  good: '\u2713',
  warn: '\u25b2',
  bad: '\u2715',
  info: '\u25cf',
};

export type Fact = { readonly label: string; readonly value: string | Markup };

export const facts = (list: readonly Fact[]): Markup =>
  html`<dl class="facts">${list.map(({ label, value }) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
`;

export type Table = {
  /** The name of the table for screen readers. */
  readonly caption: string;
  /** The first column names the row. `isNumber` aligns to the right. */
  readonly columns: readonly { readonly label: string; readonly isNumber?: boolean }[];
  readonly rows: readonly (readonly (string | Markup)[])[];
};

/** On screens narrower than some 900 px each row becomes a card, whose cells show the names of their columns. */
export function table({ caption, columns, rows }: Table): Markup {
  const head = columns.map(
    ({ label, isNumber }) =>
      html`<th role="columnheader" scope="col"${classOf(isNumber)}>${label}</th>`,
  );
  const cells = (row: Table['rows'][number]) =>
    row.map((cell, at) => {
      const { label = '', isNumber } = columns[at] ?? {};
      return at === 0
        ? html`<th role="rowheader" scope="row">${cell}</th>`
        : html`<td role="cell" data-label="${label}"${classOf(isNumber)}>${cell}</td>`;
    });
  return html`<table role="table" class="rows"><caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${head}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${cells(row)}</tr>`)}</tbody></table>
`;
}

const classOf = (isNumber: boolean | undefined): Markup | undefined =>
  isNumber === true ? html` class="number"` : undefined;

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** The time relative to now. The exact time is its title. */
export function ago({ language }: { readonly language: string }, iso: string, now: Date): Markup {
  const seconds = (new Date(iso).getTime() - now.getTime()) / 1_000;
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['minute', 60];
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const text = format.format(Math.trunc(seconds / size), unit);
  return html`<time datetime="${iso}" title="${utcText(iso)}">${text}</time>`;
}

/** The day of a moment in UTC. */
export const utcDay = (iso: string): Markup =>
  html`<time datetime="${iso}">${iso.slice(0, 10)}</time>`;

/** The maximum number of rows of a list that a part of a page shows. */
const FIRST_ROWS_MAX = 5;

/** The first rows of a list for a part of a page, with a link to the page that lists all of them. */
export const firstRows = <Row>(
  rows: readonly Row[],
  of: {
    readonly draw: (first: readonly Row[]) => Markup;
    /** The text for an empty list. */
    readonly nothing: string;
    readonly all: { readonly path: string; readonly text: string };
  },
): Markup =>
  rows.length === 0
    ? html`<p class="muted">${of.nothing}</p>`
    : html`${of.draw(rows.slice(0, FIRST_ROWS_MAX))}<p><a class="button" href="${of.all.path}">${of.all.text}</a></p>`;

/**
 * The id of an object of another service. If the named part lists the object, a script writes its name before the id.
 * The span keeps both together where a row is shown as a card.
 */
export const idNamedBy = (path: string, part: string, id: string): Markup =>
  html`<span><code data-named-by="${path}?part=${part}">${id}</code></span>`;

/** A part of a page that states the names of objects, for pages of other services. */
export const namesById = (
  list: readonly { readonly id: string; readonly name: string }[],
): Markup => html`${list.map(({ id, name }) => html`<data value="${id}">${name}</data>`)}`;

/** A link to a page of another service. A script replaces it by that part of the page. */
export const partLink = (path: string, part: string, text: string): Markup =>
  html`<a class="button" href="${path}" data-part="${path}?part=${part}">${text}</a>
`;
