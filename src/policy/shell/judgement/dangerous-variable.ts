/** Finds assignments to environment variables that change the behaviour of programs. */
import { programOf, type ShellPart } from '../shell-part.js';

const DANGEROUS_VARIABLE =
  /^(?:LD_.*|DYLD_.*|PATH|BASH_ENV|ENV|IFS|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|CDPATH|HOME|SHELL|HIST\w*|GLOBIGNORE|FPATH|BASH_FUNC_.*|NODE_OPTIONS|NODE_PATH|NODE_REPL_EXTERNAL_MODULE|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|PYTHON(?:PATH|STARTUP|HOME|INSPECT|USERBASE)|PERL5LIB|PERL5OPT|PERLLIB|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|NPM_CONFIG_.*|YARN_.*|PIP_.*|UV_.*|SSH_ASKPASS|SUDO_ASKPASS|RIPGREP_CONFIG_PATH|GREP_OPTIONS|MAKEFLAGS|MAKEFILES|TAR_OPTIONS|RSYNC_RSH|LESSOPEN|LESSCLOSE|CC|CXX|RUSTC_WRAPPER|RUSTC|CARGO_.*|GOFLAGS|GCONV_PATH|LOCPATH|NLSPATH|XDG_(?:CONFIG|DATA)_.*|GIT_(?!AUTHOR_|COMMITTER_|EDITOR$|SEQUENCE_EDITOR$|PAGER$|TERMINAL_PROMPT$|OPTIONAL_LOCKS$|TRACE).*|ANTHROPIC_.*|SKEIN_.*|HTTPS?_PROXY|ALL_PROXY|DOCKER_HOST|KUBECONFIG|AWS_.*)$/i;
const PROGRAM_VARIABLE =
  /^(?:GIT_EDITOR|GIT_SEQUENCE_EDITOR|EDITOR|VISUAL|PAGER|GIT_PAGER|MANPAGER|BROWSER)$/;
/** Values that switch editors and pagers off. */
const NO_PROGRAM = /^(?:|cat|true|:)$/;

/** Variables that an allow rule need not name, because they only change output. */
const HARMLESS_VARIABLE =
  /^(?:CI|NODE_ENV|FORCE_COLOR|NO_COLOR|CLICOLOR|CLICOLOR_FORCE|DEBUG|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|RUST_BACKTRACE|RUST_LOG|VERBOSE|GIT_PAGER|PAGER|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|EDITOR|GIT_EDITOR)$/;

const DECLARES = new Set(['export', 'declare', 'typeset', 'readonly', 'local']);

/** Variables that the shell itself uses, or whose values it runs. */
const SHELL_VARIABLE =
  /^(?:BASH_.*|PWD|OLDPWD|DIRSTACK|POSIXLY_CORRECT|TEXTDOMAIN|TEXTDOMAINDIR|FUNCNAME|histchars)$/;
/** Variables whose values the shell evaluates as arithmetic. */
const EVALUATED = /^(?:RANDOM|SRANDOM|OPTIND|HISTCMD|BASHPID|SECONDS|LINENO|EPOCH\w+)$/;

/** Returns the first dangerous variable that the part sets. Returns undefined if there is none. */
export const dangerousVariable = (part: ShellPart): string | undefined => {
  for (const { name, value } of assignments(part)) {
    if (DANGEROUS_VARIABLE.test(name) || SHELL_VARIABLE.test(name)) return name;
    if (EVALUATED.test(name) && !/^\d+$/.test(value.text)) return name;
    if (PROGRAM_VARIABLE.test(name) && (value.dynamic || !NO_PROGRAM.test(value.text))) return name;
  }
  return undefined;
};

export const setsOnlyHarmlessVariables = ({ assigned }: ShellPart): boolean =>
  assigned.every(({ name }) => HARMLESS_VARIABLE.test(name));

const assignments = (part: ShellPart): ShellPart['assigned'] => {
  if (!DECLARES.has(programOf(part) ?? '')) return part.assigned;
  const declared = part.words.slice(1).map((word) => {
    const at = word.text.indexOf('=');
    return at < 0
      ? { name: '', value: word }
      : { name: word.text.slice(0, at), value: { ...word, text: word.text.slice(at + 1) } };
  });
  return [...part.assigned, ...declared];
};
