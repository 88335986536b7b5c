/** What git can lose for good, and the settings of git that run programs. */
import { argumentsOf, hasOption, operandsOf, type ShellPart } from '../shell-part.js';
import { joinWords, type ShellWord } from '../shell-words.js';

/** A git command without the options that come before its name: `git -C x push` is `git push`. */
export const plainGit = (part: ShellPart): ShellPart => {
  const [git, ...rest] = part.words;
  let at = 0;
  for (; at < rest.length; at++) {
    const text = rest[at]?.text ?? '';
    if (!text.startsWith('-')) break;
    if (TAKES_A_WORD.has(text)) at++;
  }
  return git === undefined ? part : { ...part, words: [git, ...rest.slice(at)] };
};

export const dangerousGit = (part: ShellPart): string | undefined => {
  const settings = settingsOf(part);
  if (settings.some(({ text, dynamic }) => dynamic || RUNS.test(text))) {
    return 'It changes a setting of git that can run programs.';
  }
  const git = plainGit(part);
  const [command, ...rest] = argumentsOf(git);
  if (command === undefined) return undefined;
  if (command.dynamic || command.glob)
    return 'Which command of git it runs is known only when it runs.';
  const inner: ShellPart = { ...git, words: [command, ...rest] };
  return DANGERS.get(command.text)?.(inner);
};

const TAKES_A_WORD = new Set(
  '-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source'.split(
    ' ',
  ),
);

/** What is set before the name of the command, and the options that lead git to other programs. */
const settingsOf = (part: ShellPart): readonly ShellWord[] => {
  const { words } = part;
  const start = words.length - plainGit(part).words.length + 1;
  const settings: ShellWord[] = [];
  for (const [index, word] of words.entries()) {
    const { text } = word;
    if (index >= start) {
      if (PROGRAMS.test(text)) settings.push({ ...word, dynamic: true });
    } else if (text === '-c' || text === '--config-env') {
      settings.push(words[index + 1] ?? word);
    } else if (/^--(?:config-env|exec-path)=|^-c./.test(text)) {
      settings.push({ ...word, text: text.replace(/^--config-env=|^-c/, '') });
    } else if (text === '-p' || text === '--paginate') settings.push({ ...word, dynamic: true });
  }
  return settings;
};

/** Git takes any beginning of a name that is the only one. */
const PROGRAMS = /^--(?:upl|recei|exec?|ext-d|op)[a-z-]*(?:=|$)/;

/** Keys of settings whose value is a program, a file of settings or a folder of hooks. */
const RUNS =
  /^--exec-path|^(?:alias\.|core\.(?:pager|editor|sshcommand|hookspath|fsmonitor|askpass|gitproxy|attributesfile|worktree)|pager\.|diff\.external|diff\..*\.(?:textconv|command)|difftool\.|mergetool\.|merge\..*\.driver|filter\.|credential\.|gpg\.|sequence\.editor|interactive\.difffilter|include|protocol\.|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|url\.|uploadpack\.|receive\.|init\.templatedir|man\.|web\.|browser\.|sendemail\.|submodule\..*\.update|trailer\.|http\.proxy|http\.sslverify|safe\.)/i;

type Danger = (part: ShellPart) => string | undefined;

const LOSES = 'It throws work away that git cannot bring back.';
const REWRITES = 'It changes or removes what others may already have.';

const when =
  (reason: string, test: (part: ShellPart) => boolean): Danger =>
  (part) =>
    test(part) ? reason : undefined;

const words = (part: ShellPart) => argumentsOf(part).map(({ text }) => text);
const isDynamic = (part: ShellPart) => argumentsOf(part).some(({ splits }) => splits);

/** `git checkout -- .` and its like: every change that was not committed is gone. */
const isSweep = (part: ShellPart) =>
  operandsOf(part).some(
    ({ text, glob, dynamic }) => /^(?:\.|\.\/|:\/|\*|:\(top\).*)$/.test(text) || glob || dynamic,
  );

const checkout: Danger = when(
  LOSES,
  (part) =>
    hasOption(part, 'f', 'force') ||
    (!hasOption(part, 'bB') && isSweep(part)) ||
    words(part).includes('--'),
);

const config: Danger = (part) => {
  const isRead = hasOption(
    part,
    'l',
    'get',
    'get-all',
    'get-regexp',
    'list',
    'name-only',
    'show-origin',
  );
  const [first, second] = operandsOf(part);
  if (
    isRead ||
    (first !== undefined && second === undefined && !hasOption(part, '', 'unset', 'edit'))
  )
    return undefined;
  const keys = operandsOf(part).filter(({ text }) => text.includes('.'));
  if (hasOption(part, 'e', 'edit')) return 'It opens an editor on the settings of git.';
  return keys.some(({ text, dynamic }) => dynamic || RUNS.test(text)) ||
    hasOption(part, '', 'global', 'system')
    ? 'It changes a setting of git that can run programs, or holds for every repository.'
    : undefined;
};

const DANGERS = new Map<string, Danger>([
  ['reset', when(LOSES, (part) => hasOption(part, '', 'hard', 'merge', 'keep') || isDynamic(part))],
  ['clean', when(LOSES, (part) => !hasOption(part, 'n', 'dry-run'))],
  ['checkout', checkout],
  [
    'restore',
    when(
      LOSES,
      (part) =>
        (!hasOption(part, 'S', 'staged') || hasOption(part, 'W', 'worktree')) && isSweep(part),
    ),
  ],
  ['switch', when(LOSES, (part) => hasOption(part, 'f', 'force', 'discard-changes'))],
  [
    'push',
    when(
      REWRITES,
      (part) =>
        hasOption(
          part,
          'fd',
          'force',
          'force-with-lease',
          'force-if-includes',
          'delete',
          'mirror',
          'prune',
        ) ||
        operandsOf(part).some(({ text }) => /^[+:]/.test(text)) ||
        isDynamic(part),
    ),
  ],
  [
    'branch',
    when(
      LOSES,
      (part) =>
        hasOption(part, 'DMC') || (hasOption(part, 'd', 'delete') && hasOption(part, 'f', 'force')),
    ),
  ],
  ['tag', when(REWRITES, (part) => hasOption(part, 'df', 'delete', 'force'))],
  ['stash', when(LOSES, (part) => /^(?:drop|clear)$/.test(words(part)[0] ?? ''))],
  ['reflog', when(LOSES, (part) => /^(?:expire|delete)$/.test(words(part)[0] ?? ''))],
  ['update-ref', when(LOSES, () => true)],
  ['filter-branch', when(REWRITES, () => true)],
  ['filter-repo', when(REWRITES, () => true)],
  ['gc', when(LOSES, (part) => words(part).some((it) => it.startsWith('--prune')))],
  ['prune', when(LOSES, () => true)],
  ['worktree', when(LOSES, (part) => words(part)[0] === 'remove' && hasOption(part, 'f', 'force'))],
  [
    'remote',
    when('It changes where git sends and fetches.', (part) =>
      /^(?:add|set-.*|rm|remove|rename|update|prune)$/.test(operandsOf(part)[0]?.text ?? ''),
    ),
  ],
  ['config', config],
  ['daemon', when('It serves the repository to others.', () => true)],
  ['bisect', when('It runs a program on every step.', (part) => words(part)[0] === 'run')],
  [
    'submodule',
    when('It runs a command in every submodule.', (part) => words(part).includes('foreach')),
  ],
  ['rebase', when('It runs a command on every step.', (part) => hasOption(part, 'x', 'exec'))],
  ['difftool', when('It starts another program.', (part) => hasOption(part, 'x', 'extcmd'))],
  [
    'grep',
    when('It starts another program.', (part) => hasOption(part, 'O', 'open-files-in-pager')),
  ],
  [
    'clone',
    when(
      'It changes a setting of git that can run programs.',
      (part) =>
        hasOption(part, 'cu', 'config', 'upload-pack', 'template') ||
        /ext::/.test(joinWords(part.words)),
    ),
  ],
  ['fetch', when('It starts another program.', (part) => /ext::/.test(joinWords(part.words)))],
]);
