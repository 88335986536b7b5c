/** Finds git commands that lose work for good or change settings that run programs. */
import { argumentsOf, hasOption, operandsOf, type ShellPart } from '../shell-part.js';
import { joinWords, type ShellWord } from '../shell-word.js';

/** Returns the git command without the options before its name: `git -C x push` becomes `git push`. */
export const plainGit = (part: ShellPart): ShellPart => {
  const [git, ...rest] = part.words;
  let at = 0;
  for (; at < rest.length; at++) {
    const text = rest[at]?.text ?? '';
    if (!text.startsWith('-')) break;
    if (OPTIONS_WITH_VALUE.has(text)) at++;
  }
  return git === undefined ? part : { ...part, words: [git, ...rest.slice(at)] };
};

/** Returns the danger as a sentence. Returns undefined if there is none. */
export const dangerousGit = (part: ShellPart): string | undefined => {
  const settings = settingsOf(part);
  if (settings.some(({ text, dynamic }) => dynamic || PROGRAM_SETTING.test(text))) {
    return 'The command changes a setting of git that can run programs.';
  }
  const git = plainGit(part);
  const [command, ...rest] = argumentsOf(git);
  if (command === undefined) return undefined;
  if (command.dynamic || command.glob) return 'The git command is known only at run time.';
  const inner: ShellPart = { ...git, words: [command, ...rest] };
  return DANGERS.get(command.text)?.(inner);
};

const OPTIONS_WITH_VALUE = new Set(
  '-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source'.split(
    ' ',
  ),
);

/** Returns the settings before the command's name, and options that make git start other programs. */
const settingsOf = (part: ShellPart): readonly ShellWord[] => {
  const { words } = part;
  const start = words.length - plainGit(part).words.length + 1;
  const settings: ShellWord[] = [];
  for (const [index, word] of words.entries()) {
    const { text } = word;
    if (index >= start) {
      if (PROGRAM_OPTION.test(text)) settings.push({ ...word, dynamic: true });
    } else if (text === '-c' || text === '--config-env') {
      settings.push(words[index + 1] ?? word);
    } else if (/^--(?:config-env|exec-path)=|^-c./.test(text)) {
      settings.push({ ...word, text: text.replace(/^--config-env=|^-c/, '') });
    } else if (text === '-p' || text === '--paginate') settings.push({ ...word, dynamic: true });
  }
  return settings;
};

/** Options that start programs. Git accepts any unique beginning of their names. */
const PROGRAM_OPTION = /^--(?:upl|recei|exec?|ext-d|op)[a-z-]*(?:=|$)/;

/** Keys of settings whose value is a program, a settings file or a hooks folder. */
const PROGRAM_SETTING =
  /^--exec-path|^(?:alias\.|core\.(?:pager|editor|sshcommand|hookspath|fsmonitor|askpass|gitproxy|attributesfile|worktree)|pager\.|diff\.external|diff\..*\.(?:textconv|command)|difftool\.|mergetool\.|merge\..*\.driver|filter\.|credential\.|gpg\.|sequence\.editor|interactive\.difffilter|include|protocol\.|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|url\.|uploadpack\.|receive\.|init\.templatedir|man\.|web\.|browser\.|sendemail\.|submodule\..*\.update|trailer\.|http\.proxy|http\.sslverify|safe\.)/i;

type Danger = (part: ShellPart) => string | undefined;

const LOSES = 'The command discards work that git cannot restore.';
const REWRITES = 'The command changes or removes commits that other people may have.';

const dangerIf =
  (reason: string, test: (part: ShellPart) => boolean): Danger =>
  (part) =>
    test(part) ? reason : undefined;

const argumentTexts = (part: ShellPart) => argumentsOf(part).map(({ text }) => text);
const isDynamic = (part: ShellPart) => argumentsOf(part).some(({ splits }) => splits);

/** True for `git checkout -- .` and the like, which discard all uncommitted changes. */
const isSweep = (part: ShellPart) =>
  operandsOf(part).some(
    ({ text, glob, dynamic }) => /^(?:\.|\.\/|:\/|\*|:\(top\).*)$/.test(text) || glob || dynamic,
  );

const checkout: Danger = dangerIf(
  LOSES,
  (part) =>
    hasOption(part, 'f', 'force') ||
    (!hasOption(part, 'bB') && isSweep(part)) ||
    argumentTexts(part).includes('--'),
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
  if (hasOption(part, 'e', 'edit')) return 'The command opens an editor for the settings of git.';
  return keys.some(({ text, dynamic }) => dynamic || PROGRAM_SETTING.test(text)) ||
    hasOption(part, '', 'global', 'system')
    ? 'The command changes a setting of git that can run programs or applies to every repository.'
    : undefined;
};

const DANGERS = new Map<string, Danger>([
  [
    'reset',
    dangerIf(LOSES, (part) => hasOption(part, '', 'hard', 'merge', 'keep') || isDynamic(part)),
  ],
  ['clean', dangerIf(LOSES, (part) => !hasOption(part, 'n', 'dry-run'))],
  ['checkout', checkout],
  [
    'restore',
    dangerIf(
      LOSES,
      (part) =>
        (!hasOption(part, 'S', 'staged') || hasOption(part, 'W', 'worktree')) && isSweep(part),
    ),
  ],
  ['switch', dangerIf(LOSES, (part) => hasOption(part, 'f', 'force', 'discard-changes'))],
  [
    'push',
    dangerIf(
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
    dangerIf(
      LOSES,
      (part) =>
        hasOption(part, 'DMC') || (hasOption(part, 'd', 'delete') && hasOption(part, 'f', 'force')),
    ),
  ],
  ['tag', dangerIf(REWRITES, (part) => hasOption(part, 'df', 'delete', 'force'))],
  ['stash', dangerIf(LOSES, (part) => /^(?:drop|clear)$/.test(argumentTexts(part)[0] ?? ''))],
  ['reflog', dangerIf(LOSES, (part) => /^(?:expire|delete)$/.test(argumentTexts(part)[0] ?? ''))],
  ['update-ref', dangerIf(LOSES, () => true)],
  ['filter-branch', dangerIf(REWRITES, () => true)],
  ['filter-repo', dangerIf(REWRITES, () => true)],
  ['gc', dangerIf(LOSES, (part) => argumentTexts(part).some((text) => text.startsWith('--prune')))],
  ['prune', dangerIf(LOSES, () => true)],
  [
    'worktree',
    dangerIf(LOSES, (part) => argumentTexts(part)[0] === 'remove' && hasOption(part, 'f', 'force')),
  ],
  [
    'remote',
    dangerIf('The command changes the remotes of git.', (part) =>
      /^(?:add|set-.*|rm|remove|rename|update|prune)$/.test(operandsOf(part)[0]?.text ?? ''),
    ),
  ],
  ['config', config],
  ['daemon', dangerIf('The command serves the repository to other machines.', () => true)],
  [
    'bisect',
    dangerIf(
      'The command runs a program at every step.',
      (part) => argumentTexts(part)[0] === 'run',
    ),
  ],
  [
    'submodule',
    dangerIf('The command runs another command in every submodule.', (part) =>
      argumentTexts(part).includes('foreach'),
    ),
  ],
  [
    'rebase',
    dangerIf('The command runs another command at every step.', (part) =>
      hasOption(part, 'x', 'exec'),
    ),
  ],
  [
    'difftool',
    dangerIf('The command starts another program.', (part) => hasOption(part, 'x', 'extcmd')),
  ],
  [
    'grep',
    dangerIf('The command starts another program.', (part) =>
      hasOption(part, 'O', 'open-files-in-pager'),
    ),
  ],
  [
    'clone',
    dangerIf(
      'The command changes a setting of git that can run programs.',
      (part) =>
        hasOption(part, 'cu', 'config', 'upload-pack', 'template') ||
        /ext::/.test(joinWords(part.words)),
    ),
  ],
  [
    'fetch',
    dangerIf('The command starts another program.', (part) => /ext::/.test(joinWords(part.words))),
  ],
]);
