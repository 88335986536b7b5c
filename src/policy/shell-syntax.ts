/** Questions about a tree of the parser that are asked before it is walked. */
import { type CommandNode, forEachChild, type SyntaxNode } from 'unbash';
import { isMove } from './shell-dirs.js';
import { type KnownValues, readWord } from './shell-words.js';

export const isCommandNode = (node: SyntaxNode): node is CommandNode =>
  COMMAND_NODES.has(node.type);

const COMMAND_NODES = new Set(
  'Command If For ArithmeticFor Select While Subshell BraceGroup Case TestCommand ArithmeticCommand Redirected Function Coproc'.split(
    ' ',
  ),
);

const NO_VALUES: KnownValues = new Map();

/** Whether a `cd` stands anywhere in it, also behind `command`. */
export const containsMove = (node: SyntaxNode): boolean => {
  let found = false;
  const visit = (child: SyntaxNode): void => {
    if (found) return;
    if (child.type === 'Command' && child.name !== undefined) {
      const words = [child.name, ...child.args.filter((it) => it.type === 'Word')];
      found = words.some((word) => isMove([readWord(word, NO_VALUES)]));
    }
    if (!found) forEachChild(child, visit);
  };
  visit(node);
  return found;
};

/** A body that starts its own function in a pipeline or in the background. */
export const bombs = (body: SyntaxNode, name: string): boolean => {
  let found = false;
  const visit = (child: SyntaxNode, forks: boolean): void => {
    if (found) return;
    found = forks && child.type === 'Command' && child.name?.value === name;
    const deeper =
      forks ||
      (child.type === 'Pipeline' && child.commands.length > 1) ||
      (child.type === 'Statement' && child.background === true);
    forEachChild(child, (next) => visit(next, deeper));
  };
  visit(body, false);
  return found;
};

/**
 * Whether it evaluates the value of a variable, which can hold a command: `x='a[$(rm y)]'` runs in
 * `$((x))`, `${!x}` and `[[ x -eq 1 ]]`, and `x='$(rm y)'` in `${x@P}`.
 */
export const evaluates = (node: SyntaxNode): boolean => {
  switch (node.type) {
    case 'ArithmeticWord':
      return !/^(?:0[xX][\da-fA-F]+|\d+(?:#\w+)?)$/.test(node.value);
    case 'ParameterExpansion':
      return node.prefix === '!' || (node.index !== undefined && !isPlainIndex(node.index.text));
    case 'Transform':
    case 'Unknown':
      return true;
    case 'Slice':
      return [node.offset, node.length].some(
        (it) => it !== undefined && !/^[\s\d-]*$/.test(it.text),
      );
    case 'Assignment':
      return node.index !== undefined && !isPlainIndex(node.index.text);
    case 'TestBinary':
      return (
        /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator) &&
        ![node.left.text, node.right.text].every((text) => /^-?\d+$/.test(text))
      );
    case 'TestUnary':
      return node.operator === '-v' || node.operator === '-R';
    default:
      return false;
  }
};

const isPlainIndex = (text: string) => /^(?:\d+|[@*])$/.test(text);
