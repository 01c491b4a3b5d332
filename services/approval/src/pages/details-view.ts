/**
 * The details of an action as a person reads them: each member on a line of its own, none folded or cut, and
 * what cannot be seen is named. Texts are isolated, so that none changes the order of what stands beside it.
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

/** A quote within a text is marked, so that no text can end itself. */
const quoted = (text: string): Markup =>
  html`<bdi>"${visible(text).replaceAll(/["\\]/g, '\\$&')}"</bdi>`;
