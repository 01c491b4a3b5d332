/**
 * Imports a schema in SpiceDB's language (`.zed`) as a model. Parts without a counterpart are refused:
 * caveats, expiration, `use`, `.all()`.
 */
import type { Rule, Term, Types } from '../relations/rules.ts';
import { type Expression, NotImportable, rulesOf } from './expression.ts';

const TEXT_CHARS_MAX = 256 * 1024;
/** The maximum nesting of parentheses. */
const DEPTH_MAX = 64;

const BLANK = /[\s;]+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const TOKEN = /->|\.\.\.|[{}()|:#*=+&.-]|[A-Za-z_][A-Za-z0-9_]*(?:\/[A-Za-z_][A-Za-z0-9_]*)*/y;
const NAME = /^[A-Za-z_]/;

export function typesOfZed(text: string): Types {
  if (text.length > TEXT_CHARS_MAX) throw new NotImportable('The schema is too long.');
  const tokens = new Tokens([...tokensOf(text)]);
  const types: { [type: string]: { relations: { [relation: string]: Rule } } } = {};
  while (!tokens.isAtEnd) {
    tokens.take('definition');
    const type = tokens.name();
    if (Object.hasOwn(types, type)) throw new NotImportable('A definition stands twice.');
    types[type] = { relations: definition(tokens) };
  }
  return types;
}

function* tokensOf(text: string): Generator<string> {
  let at = 0;
  while (at < text.length) {
    BLANK.lastIndex = at;
    const blank = BLANK.exec(text)?.[0];
    TOKEN.lastIndex = at;
    const token = blank === undefined ? TOKEN.exec(text)?.[0] : undefined;
    if (blank === undefined && token === undefined) {
      throw new NotImportable('This is no schema of SpiceDB.');
    }
    if (token !== undefined) yield token;
    at += (blank ?? token ?? '').length;
  }
}

class Tokens {
  readonly #all: readonly string[];
  #at = 0;

  constructor(all: readonly string[]) {
    this.#all = all;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#all.length;
  }

  /** Consumes the token if it comes next. */
  has(token: string): boolean {
    if (this.#all[this.#at] !== token) return false;
    this.#at += 1;
    return true;
  }

  take(token: string): void {
    if (!this.has(token)) throw new NotImportable('Something has no counterpart, or is misplaced.');
  }

  name(): string {
    const token = this.#all[this.#at] ?? '';
    if (!NAME.test(token)) throw new NotImportable('A name is missing.');
    this.#at += 1;
    return token;
  }
}

function definition(tokens: Tokens): { [relation: string]: Rule } {
  tokens.take('{');
  const expressions = new Map<string, Expression>();
  while (!tokens.has('}')) {
    const isRelation = tokens.has('relation');
    if (!isRelation) tokens.take('permission');
    const name = tokens.name();
    if (expressions.has(name)) throw new NotImportable('A name stands twice.');
    tokens.take(isRelation ? ':' : '=');
    expressions.set(name, isRelation ? subjects(tokens) : exclusion(tokens, 0));
  }
  const rules: { [relation: string]: Rule } = {};
  for (const [name, expression] of expressions) {
    Object.assign(
      rules,
      rulesOf(name, expression, (other) => expressions.has(other)),
    );
  }
  return rules;
}

/** Parses `user | user:* | group#member`. */
function subjects(tokens: Tokens): Expression {
  const entries: string[] = [];
  do {
    const type = tokens.name();
    if (tokens.has(':')) {
      tokens.take('*');
      entries.push(`${type}:*`);
    } else if (tokens.has('#')) {
      // The ellipsis refers to the object itself.
      entries.push(tokens.has('...') ? type : `${type}#${tokens.name()}`);
    } else entries.push(type);
  } while (tokens.has('|'));
  return { kind: 'direct', entries };
}

/** Parses the operator with the lowest precedence; a union has the highest. */
function exclusion(tokens: Tokens, depth: number): Expression {
  let base = intersection(tokens, depth);
  while (tokens.has('-')) base = { kind: 'exclude', base, minus: intersection(tokens, depth) };
  return base;
}

function intersection(tokens: Tokens, depth: number): Expression {
  const of = [union(tokens, depth)];
  while (tokens.has('&')) of.push(union(tokens, depth));
  return of.length === 1 ? (of[0] as Expression) : { kind: 'intersect', of };
}

function union(tokens: Tokens, depth: number): Expression {
  const of = [operand(tokens, depth)];
  while (tokens.has('+')) of.push(operand(tokens, depth));
  return of.length === 1 ? (of[0] as Expression) : { kind: 'union', of };
}

function operand(tokens: Tokens, depth: number): Expression {
  if (depth > DEPTH_MAX) throw new NotImportable('Nested too deeply.');
  if (tokens.has('(')) {
    const inner = exclusion(tokens, depth + 1);
    tokens.take(')');
    return inner;
  }
  const name = tokens.name();
  if (name === 'nil') throw new NotImportable('`nil` has no counterpart.');
  return { kind: 'term', term: termOf(tokens, name) };
}

/** Parses `viewer`, `parent->viewer` or `parent.any(viewer)`. */
function termOf(tokens: Tokens, name: string): Term {
  if (tokens.has('->')) return { from: name, relation: tokens.name() };
  if (!tokens.has('.')) return name;
  tokens.take('any');
  tokens.take('(');
  const relation = tokens.name();
  tokens.take(')');
  return { from: name, relation };
}
