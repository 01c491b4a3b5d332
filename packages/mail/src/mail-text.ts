/**
 * The form of every mail: a subject of one line, paragraphs of plain text, and the same paragraphs as HTML,
 * in which everything that users or agents wrote is escaped.
 */
export type MailText = {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

/** Plain text, or a link: `label: link` in the text, an anchor in the HTML. */
export type Paragraph = string | { readonly label: string; readonly link: string };

export function mailText(subject: string, paragraphs: readonly Paragraph[]): MailText {
  const lines = paragraphs.map((each) =>
    typeof each === 'string' ? each : `${each.label}: ${each.link}`,
  );
  const html = paragraphs.map((each) => `<p>${asHtml(each)}</p>`).join('');
  return {
    subject: oneLine(subject),
    text: `${lines.join('\n\n')}\n`,
    html: `<!doctype html><html lang="en"><body>${html}</body></html>`,
  };
}

const asHtml = (paragraph: Paragraph): string =>
  typeof paragraph === 'string'
    ? escapeHtml(paragraph)
    : `<a href="${escapeHtml(paragraph.link)}">${escapeHtml(paragraph.label)}</a>`;

const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ');

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
