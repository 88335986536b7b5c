/** Tags that mark text of Skein, of the project or of the task for the model. */
export const SKEIN_TAGS: readonly string[] = [
  'system-reminder',
  'hook-context',
  'instructions',
  'mcp-instructions',
  'git-snapshot',
  'fork-task',
  'agent-role',
  'agent-report',
  'agent-message',
];
