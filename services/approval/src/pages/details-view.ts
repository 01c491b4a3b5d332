/**
 * Shows the details of an action to a person. Each member is on a separate line, none is collapsed or cut, and
 * invisible characters are named. Texts are isolated, so that none changes the order of the text next to it.
 */
import { html, type Markup, NOTHING } from '@cardea/pages';
import { visible } from '@cardea/runtime';

export const detailsView = (details: { readonly [name: string]: unknown }): Markup =>
  html`<pre class="whole" dir="ltr">${linesFor(details, 0)}</pre>`;

function linesFor(value: unknown, level: number): Markup {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => linesFor(item, level + 1));
    return html`[${linesOf(items, level)}]`;
  }
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value).map(
      ([name, member]) => html`${quoted(name)}: ${linesFor(member, level + 1)}`,
    );
    return html`{${linesOf(members, level)}}`;
  }
  return html`${JSON.stringify(value)}`;
}

function linesOf(members: readonly Markup[], level: number): Markup {
  if (members.length === 0) return NOTHING;
  const indent = '  '.repeat(level + 1);
  const last = members.length - 1;
  const lines = members.map((each, index) => html`\n${indent}${each}${index < last ? ',' : ''}`);
  return html`${lines}\n${'  '.repeat(level)}`;
}

/** Marks quotes within a text, so that no text can appear to end early. */
const quoted = (text: string): Markup =>
  html`<bdi>"${visible(text).replaceAll(/["\\]/g, '\\$&')}"</bdi>`;
