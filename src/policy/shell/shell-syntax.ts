/** Questions about a tree of the parser that are asked before it is walked. */
import { type CommandNode, forEachChild, type SyntaxNode } from 'unbash';
import { isMove } from './shell-cwd.js';
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
    // A translation is expanded like any text in double quotes.
    case 'LocaleString':
      return true;
    case 'For':
    case 'Select':
    case 'While':
    case 'ArithmeticFor':
      return startsInBackground(node.body);
    case 'Slice':
      return [node.offset, node.length].some(
        (it) => it !== undefined && !/^[\s\d-]*$/.test(it.text),
      );
    case 'Assignment':
      return (
        (node.index !== undefined && !isPlainIndex(node.index.text)) ||
        (node.value.type === 'ArrayValue' &&
          node.value.elements.some(({ text }) => /^\[/.test(text)))
      );
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

/** The variable that it sets without being an assignment: `for x in`, `{x}>file`, `${x:=y}`. */
export const setsVariable = (node: SyntaxNode): string | undefined => {
  switch (node.type) {
    case 'For':
    case 'Select':
    case 'Coproc':
      return node.name?.value;
    case 'Redirect':
      return node.descriptor?.type === 'FileDescriptorVariable' ? node.descriptor.name : undefined;
    case 'ParameterExpansion':
      return node.operation?.type === 'Default' && /=$/.test(node.operation.operator)
        ? node.parameter
        : undefined;
    default:
      return undefined;
  }
};

/** A loop that starts programs and does not wait for them may start any number. */
const startsInBackground = (body: SyntaxNode): boolean => {
  let found = false;
  const visit = (child: SyntaxNode): void => {
    found ||= child.type === 'Statement' && child.background === true;
    if (!found) forEachChild(child, visit);
  };
  visit(body);
  return found;
};

const isPlainIndex = (text: string) => /^(?:\d+|[@*])$/.test(text);
