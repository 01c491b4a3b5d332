/** The blocks of a mail. HTML and text show each block. */

export type Fact = readonly [label: string, value: string];

/** A line of the plain text, and its markup in the HTML. */
export type Block =
  | { readonly kind: 'brand' | 'title' | 'why' | 'end'; readonly text: string }
  | { readonly kind: 'facts'; readonly facts: readonly Fact[] }
  | { readonly kind: 'code' | 'paste'; readonly label: string; readonly code: string }
  | { readonly kind: 'button'; readonly label: string; readonly link: string }
  | { readonly kind: 'foot'; readonly from: string; readonly support: Fact | undefined };
