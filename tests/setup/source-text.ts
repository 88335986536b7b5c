/** Reads TypeScript as far as the architecture rules need it: code without comments, imports and exports. */
import { posix } from 'node:path';

export interface SourceFile {
  /** Path from the root of the repository: `src/prompt/marks.ts`. */
  readonly file: string;
  readonly text: string;
}

export interface Import {
  readonly file: string;
  /** The target as written. For a relative target the path of the file: `src/protocol/ids.ts`. */
  readonly target: string;
  /** True if the import does not exist after compilation. */
  readonly typeOnly: boolean;
}

// In this order: comments, regular expressions (after a token that cannot end a value), templates (without
// templates inside them), strings.
const TOKENS =
  /\/\*[\s\S]*?\*\/|\/\/.*|(?<=(?:[=(,:;!&|?[{}]|=>|\breturn)\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/|`(?:\\.|\$\{[^}]*\}|[^`\\])*`|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;

/** The code without comments, with every string replaced by its index in `strings`. */
export const skeleton = (text: string) => {
  const strings: string[] = [];
  const code = text.replace(TOKENS, (token) => {
    if (token.startsWith('//') || token.startsWith('/*')) return ' ';
    if (token.startsWith('/')) return '0';
    const expressions = token.startsWith('`') ? [...token.matchAll(/\$\{([^}]*)\}/g)] : [];
    if (expressions.length > 0) return `(${expressions.map(([, inner]) => inner).join(',')})`;
    return `'${strings.push(token.slice(1, -1)) - 1}'`;
  });
  return { code, strings };
};

const STATIC = /\b(?:import|export)\b([^;'()=]*?)\bfrom\s*'(\d+)'/g;
const BARE = /\bimport\s*(?:\(\s*)?'(\d+)'/g;

export const importsOf = ({ file, text }: SourceFile): readonly Import[] => {
  const { code, strings } = skeleton(text);
  const found = (written: string | undefined, typeOnly: boolean) => {
    const target = destination(file, strings[Number(written)] ?? '');
    return { file, target, typeOnly };
  };
  return [
    ...[...code.matchAll(STATIC)].map(([, clause = '', target]) =>
      found(target, /^\s*type\b/.test(clause)),
    ),
    ...[...code.matchAll(BARE)].map(([, target]) => found(target, false)),
  ];
};

const destination = (file: string, target: string) =>
  target.startsWith('.')
    ? posix.join(posix.dirname(file), target).replace(/\.js(x?)$/, '.ts$1')
    : target;

const EXPORT =
  /\bexport\s+(?:default\s+)?(?:abstract\s+|async\s+|declare\s+)*(?:const|let|class|function\*?|interface|type|enum)\s+([A-Za-z_$][\w$]*)/g;

/** Names that a file declares and exports. Re-exports do not count. */
export const exportsOf = ({ text }: SourceFile): readonly string[] =>
  [...skeleton(text).code.matchAll(EXPORT)].flatMap(([, name]) => name ?? []);

export const commentsOf = (text: string): readonly string[] =>
  (text.match(TOKENS) ?? []).filter((token) => token.startsWith('//') || token.startsWith('/*'));
