/**
 * Finds questionable commands, which a rule for every command does not allow.
 *
 * They install published packages, or run code from an argument that cannot be analysed. A rule with a
 * pattern, or mode bypassPermissions, allows them.
 */
import {
  argumentsOf,
  operandsOf,
  programOf,
  type ShellPart,
  type ShellReading,
} from '../shell-part.js';

/** Returns the reason as a sentence. Returns undefined if no part is questionable. */
export const questionableCommand = ({ parts }: ShellReading): string | undefined => {
  for (const part of parts) {
    const reason = questionablePart(part);
    if (reason !== undefined) return reason;
  }
  return undefined;
};

const questionablePart = (part: ShellPart): string | undefined => {
  if (installs(part)) return 'The command installs or runs published packages.';
  return isOpaque(part)
    ? 'The command runs code from an argument, which cannot be analysed.'
    : undefined;
};

const installs = (part: ShellPart): boolean => {
  const program = programOf(part) ?? '';
  if (ALWAYS.has(program)) return true;
  const operands = operandsOf(part).map(({ text }) => text);
  const pattern = BY_COMMAND.get(program.replace(/^python[\d.]*$/, 'python'));
  if (pattern?.test(operands.slice(0, 2).join(' ')) === true) return true;
  return (program === 'yarn' || program === 'bundle') && operands.length === 0;
};

const ALWAYS = new Set('npx bunx pnpx uvx corepack'.split(' '));

const NPM =
  /^(?:install|i|in|ins|inst|isntall|add|ci|clean-install|update|up|upgrade|link|ln|rebuild|exec|x|dlx|init|create|install-test|it|cit|import|fetch)(?: |$)/;
const SYSTEM =
  /^(?:install|add|remove|purge|upgrade|update|dist-upgrade|full-upgrade|autoremove|reinstall|del|tap|cask|localinstall|groupinstall|swap|downgrade|uninstall)(?: |$)/;

const BY_COMMAND = new Map<string, RegExp>([
  ...['npm', 'pnpm', 'yarn', 'bun', 'deno'].map((name) => [name, NPM] as const),
  ...[
    'apt',
    'apt-get',
    'aptitude',
    'brew',
    'dnf',
    'yum',
    'microdnf',
    'apk',
    'zypper',
    'snap',
    'flatpak',
    'port',
    'pkg',
    'conda',
    'mamba',
    'choco',
    'winget',
    'scoop',
  ].map((name) => [name, SYSTEM] as const),
  ...['pip', 'pip3', 'pipx'].map(
    (name) =>
      [
        name,
        /^(?:install|download|wheel|uninstall|run|inject|upgrade|upgrade-all)(?: |$)/,
      ] as const,
  ),
  ['python', /^pip (?:install|download|wheel|uninstall)|^(?:pip|ensurepip)$/],
  ['uv', /^(?:add|sync|run|pip (?:install|sync)|tool (?:install|run)|x)(?: |$)/],
  ['poetry', /^(?:add|install|update)(?: |$)/],
  ['pacman', /^/],
  ['dpkg', /^/],
  ['rpm', /^/],
  ['nix-env', /^/],
  ['cargo', /^(?:install|add|update)(?: |$)/],
  ['rustup', /^(?:install|update|toolchain|component|target|self)(?: |$)/],
  ['go', /^(?:install|get)(?: |$)|^mod (?:download|tidy)/],
  ['gem', /^(?:install|update|uninstall)(?: |$)/],
  ['bundle', /^(?:install|update|add)(?: |$)/],
  ['composer', /^(?:install|require|update|create-project|global)(?: |$)/],
  ['dotnet', /^(?:add|restore|tool|workload)(?: |$)/],
  ['cpan', /^/],
  ['cpanm', /^/],
  ['luarocks', /^install/],
  ['mise', /^(?:install|use|exec|x|upgrade)(?: |$)/],
  ['asdf', /^(?:install|plugin)(?: |$)/],
  ['helm', /^(?:install|upgrade|plugin)(?: |$)/],
  ['code', /^/],
]);

const CODE_OPTIONS = new Map<string, RegExp>([
  ['python', /^-[A-Za-z]*c/],
  ['node', /^(?:-e|-p|-pe|--eval|--print)(?:=|$)/],
  ['nodejs', /^(?:-e|-p|-pe|--eval|--print)(?:=|$)/],
  ['bun', /^(?:-e|-p|--eval|--print)(?:=|$)/],
  ['deno', /^eval$/],
  ['perl', /^-[A-Za-z0]*[eE]/],
  ['ruby', /^-[A-Za-z]*e/],
  ['php', /^-[rBRE]/],
  ['lua', /^-e/],
  ['osascript', /^-e/],
  ['pwsh', /^-(?:c|command|enc)/i],
  ['powershell', /^-(?:c|command|enc)/i],
  ['Rscript', /^-e/],
  ['tsx', /^(?:-e|-p|--eval)(?:=|$)/],
]);

const isOpaque = (part: ShellPart): boolean => {
  const program = (programOf(part) ?? '').replace(/^python[\d.]*$/, 'python');
  const options = CODE_OPTIONS.get(program);
  if (options === undefined) return OPAQUE.has(program);
  return argumentsOf(part).some(({ text }) => options.test(text));
};

/** Programs that run commands in ways that cannot be analysed. */
const OPAQUE = new Set('tmux screen expect gdb lldb ed ex vim vi nvim emacs dialog'.split(' '));
