/** Orders routes for matching: at the first difference, a literal segment before a parameter. */
type Placed = { readonly contract: { readonly path: string } };

export function inOrder<R extends Placed>(routes: readonly R[]): readonly R[] {
  return [...routes].sort((a, b) => compare(a.contract.path, b.contract.path));
}

function compare(a: string, b: string): number {
  const left = a.split('/');
  const right = b.split('/');
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const one = left[at] as string;
    const other = right[at] as string;
    if (one === other) continue;
    const parameters = Number(one.startsWith('{')) - Number(other.startsWith('{'));
    if (parameters !== 0) return parameters;
    return one < other ? -1 : 1;
  }
  return left.length - right.length;
}
