/** Recognises files that control the rights of agents, by their names and folders. */
import { comparablePath } from './comparable-path.js';

/** Name of the git folder, also in the short form of Windows (`GIT~1`). */
const GIT = '(?:\\.git|git~\\d)';
const CONTROL_PATH = new RegExp(
  `(?:^|/)(?:${[
    '\\.(?:claude|skein)/settings(?:\\.local)?\\.json',
    '\\.(?:claude|skein)/hooks/.*',
    '\\.mcp\\.json',
    'managed-(?:settings|mcp)\\.json',
    GIT,
    `${GIT}/(?:.*/)?(?:hooks|hooks/.*|config(?:\\.worktree)?|info/attributes|commondir)`,
    '\\.husky/.*',
    '\\.gitconfig',
    '\\.config/git/config',
    '\\.config/fish/.*',
    '\\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin)',
  ].join('|')})$`,
);

/**
 * True for settings, MCP servers, hooks, git settings and shell start files. A person is asked before a tool
 * changes them, because the change could give agents more rights.
 */
export const isControlFile = (path: string): boolean => CONTROL_PATH.test(comparablePath(path));
