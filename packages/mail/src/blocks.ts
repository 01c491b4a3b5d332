/** What a mail is made of; both of its parts show each block. */

export type Fact = readonly [label: string, value: string];

/** A line of the plain text, and what the HTML makes of it. */
export type Block =
  | { readonly kind: 'brand' | 'title' | 'why' | 'end'; readonly text: string }
  | { readonly kind: 'facts'; readonly facts: readonly Fact[] }
  | { readonly kind: 'code' | 'paste'; readonly label: string; readonly code: string }
  | { readonly kind: 'button'; readonly label: string; readonly link: string }
  | { readonly kind: 'foot'; readonly from: string; readonly support: Fact | undefined };
