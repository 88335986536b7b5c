/** Proves that a git command only reads. */
import {
  argumentsOf,
  hasOption,
  isNoOption,
  operandsOf,
  type ShellEnvironment,
  type ShellPart,
} from '../shell-part.js';

/** True only at a root of the workspace: is-read-only-command.ts says why. */
export const isReadOnlyGit = (part: ShellPart, environment: ShellEnvironment): boolean => {
  const { words, dirs, areDirsIncomplete } = part;
  if (words.some(({ dynamic }) => dynamic) || !words.every(isNoOption)) return false;
  const bases = environment.roots.flatMap((root) => [root, environment.realPath(root)]);
  if (areDirsIncomplete || !dirs.every((dir) => bases.includes(dir))) return false;
  const rest = argumentsOf(part);
  const at = rest.findIndex(
    ({ text }) => !/^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs)$/.test(text),
  );
  const [command, ...options] = rest.slice(at < 0 ? rest.length : at);
  if (command === undefined) return false;
  const inner = { ...part, words: [command, ...options] };
  if (options.some(({ text }) => FORBIDDEN.test(text))) return false;
  return COMMANDS.get(command.text)?.(inner) === true;
};

/** Options that write files, run programs of the settings, check signatures or use the network. */
const FORBIDDEN =
  /^--(?:outp|ext-|textc|filters|show-sig|op|exec|upload|edit|verif)|%G|^-[A-Za-z]*O|%\(?trailers|--format=.*%\(signature/;

type Proof = (part: ShellPart) => boolean;

const any: Proof = () => true;
const firstIs =
  (...names: readonly string[]): Proof =>
  (part) =>
    names.includes(argumentsOf(part)[0]?.text ?? '');

const branches: Proof = (part) => {
  const isList = hasOption(
    part,
    'l',
    'list',
    'contains',
    'no-contains',
    'merged',
    'no-merged',
    'points-at',
  );
  const harmless = argumentsOf(part).every(
    ({ text }) =>
      !text.startsWith('-') ||
      /^-[arvlqi]+$|^--(?:list|all|remotes|verbose|show-current|contains|no-contains|merged|no-merged|points-at|sort|format|color|no-color|column|no-column|abbrev|no-abbrev|ignore-case)(?:=|$)/.test(
        text,
      ),
  );
  return harmless && (isList || operandsOf(part).length === 0);
};

const tags: Proof = (part) => {
  const isList = hasOption(part, 'ln', 'list', 'contains', 'merged', 'points-at');
  const writes = hasOption(
    part,
    'asufdvmFe',
    'annotate',
    'sign',
    'force',
    'delete',
    'message',
    'file',
    'create-reflog',
  );
  return !writes && (isList || operandsOf(part).length === 0);
};

const COMMANDS = new Map<string, Proof>([
  ...'status log show diff shortlog whatchanged rev-parse rev-list ls-files ls-tree cat-file blame annotate describe name-rev merge-base for-each-ref show-ref show-branch diff-tree diff-index diff-files count-objects grep check-ignore check-attr cherry range-diff version'
    .split(' ')
    .map((name) => [name, any] as const),
  ['--version', (part) => part.words.length === 1],
  ['branch', branches],
  ['tag', tags],
  [
    'remote',
    (part) =>
      part.words.length === 1 ||
      firstIs('get-url')(part) ||
      (part.words.length === 2 && firstIs('-v', '--verbose')(part)),
  ],
  ['stash', firstIs('list', 'show')],
  ['reflog', (part) => part.words.length === 1 || firstIs('show')(part)],
  ['worktree', firstIs('list')],
]);
