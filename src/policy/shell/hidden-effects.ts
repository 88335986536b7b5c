/** Finds hidden effects of shell syntax: evaluations, assignments, `cd`, fork bombs. */
import { forEachChild, type SyntaxNode } from 'unbash';
import { changesDir } from './shell-cwd.js';
import { type KnownVariables, readWord } from './shell-word.js';

const NO_VARIABLES: KnownVariables = new Map();

/** True if the tree contains a `cd`, also as an argument of a wrapper such as `command`. */
export const containsCd = (node: SyntaxNode): boolean => {
  let found = false;
  const visit = (child: SyntaxNode): void => {
    if (found) return;
    if (child.type === 'Command' && child.name !== undefined) {
      const words = [child.name, ...child.args.filter((arg) => arg.type === 'Word')];
      found = words.some((word) => changesDir([readWord(word, NO_VARIABLES)]));
    }
    if (!found) forEachChild(child, visit);
  };
  visit(node);
  return found;
};

/** True if the body of a function starts the same function in a pipeline or in the background. */
export const isForkBomb = (body: SyntaxNode, name: string): boolean => {
  let found = false;
  const visit = (child: SyntaxNode, isForked: boolean): void => {
    if (found) return;
    found = isForked && child.type === 'Command' && child.name?.value === name;
    const isDeeperForked =
      isForked ||
      (child.type === 'Pipeline' && child.commands.length > 1) ||
      (child.type === 'Statement' && child.background === true);
    forEachChild(child, (next) => visit(next, isDeeperForked));
  };
  visit(body, false);
  return found;
};

interface HiddenEffects {
  /** True if the node evaluates the value of a variable, or starts an unlimited number of programs. */
  readonly evaluates: boolean;
  /** Variable that the node sets without an assignment. Undefined if it sets none. */
  readonly sets: string | undefined;
}

/** Returns the effects of the node itself, not of its children. */
export const hiddenEffects = (node: SyntaxNode): HiddenEffects => ({
  evaluates: evaluates(node),
  sets: variableSetBy(node),
});

/**
 * The value of a variable can contain a command: `x='a[$(rm y)]'` runs it in `$((x))`, `${!x}` and
 * `[[ x -eq 1 ]]`, and `x='$(rm y)'` runs it in `${x@P}`.
 */
const evaluates = (node: SyntaxNode): boolean => {
  switch (node.type) {
    case 'ArithmeticWord':
      return !/^(?:0[xX][\da-fA-F]+|\d+(?:#\w+)?)$/.test(node.value);
    case 'ParameterExpansion':
      return node.prefix === '!' || (node.index !== undefined && !isPlainIndex(node.index.text));
    case 'Transform':
    case 'Unknown':
    // The translation of the text is expanded like text in double quotes.
    case 'LocaleString':
      return true;
    case 'For':
    case 'Select':
    case 'While':
    case 'ArithmeticFor':
      return startsInBackground(node.body);
    case 'Slice':
      return [node.offset, node.length].some(
        (bound) => bound !== undefined && !/^[\s\d-]*$/.test(bound.text),
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

/** Returns the variable that `for x in`, `{x}>file` or `${x:=y}` sets. */
const variableSetBy = (node: SyntaxNode): string | undefined => {
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

/** True if a loop starts programs without waiting for them, so that their number is unlimited. */
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
