/**
 * Detects command lines that wait or read a changing state: time, processes, the network, remote
 * systems. A repetition of such a command is not a loop. The result has no effect on permissions.
 */

/** Programs, with a pattern that their arguments must match. */
const POLLING: Readonly<Record<string, RegExp>> = {
  ...patternsByName(
    'wait watch inotifywait ps pgrep pidof top uptime free vmstat iostat lsof ss netstat',
  ),
  ...patternsByName('date curl wget ping nc dig nslookup host squeue nvidia-smi journalctl'),
  sleep: /^(?!0*\.?0*[a-z]?$)/,
  tail: /^(.* )?(-[a-zA-Z0-9]*[fF]|--follow|--retry)/,
  git: /^(-C \S+ |-\S+ )*(fetch|pull|ls-remote|remote (show|update))\b/,
  gh: /^(run|pr|workflow|issue|release|api)\b/,
  docker: /^(compose )?(ps|logs|inspect|stats|top|wait|events)\b/,
  podman: /^(compose )?(ps|logs|inspect|stats|top|wait|events)\b/,
  kubectl: /^(get|describe|logs|top|wait|rollout status)\b/,
  systemctl: /^(--\S+ )*(status|is-active|is-failed|show|list-\w+)\b/,
};

function patternsByName(names: string): Record<string, RegExp> {
  return Object.fromEntries(names.split(' ').map((name) => [name, /^/]));
}

/** Longer command lines are scripts, which do more than wait. */
const MAX_LENGTH = 4_000;

/** Keywords, wrappers and assignments before a command. */
const AHEAD =
  /^(?:(?:if|then|else|elif|while|until|do|time|!|\{|sudo|env|nohup|exec|command|timeout (?:-\S+ )*\S+|\w+=\S*)\s+)+/;

export const isPollingCommand = (command: string): boolean => {
  if (command.length > MAX_LENGTH) return false;
  return command.split(/[;&|\n()`]+/).some((part) => {
    const [name = '', ...rest] = part.trim().replace(AHEAD, '').split(/\s+/);
    const program = name.slice(name.lastIndexOf('/') + 1);
    return Object.hasOwn(POLLING, program) && POLLING[program]?.test(rest.join(' ')) === true;
  });
};
